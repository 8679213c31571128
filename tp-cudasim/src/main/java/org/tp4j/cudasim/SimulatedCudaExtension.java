package org.tp4j.cudasim;

import java.util.Optional;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;
import org.tp4j.cuda.CudaBackend;

/** What {@link SimulatedCuda} does. */
final class SimulatedCudaExtension implements ExecutionCondition, ParameterResolver {
    SimulatedCudaExtension() {}

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        Optional<String> unavailable = CudaSimulator.unavailable();
        if (unavailable.isEmpty()) {
            CudaSimulator.use();
            return ConditionEvaluationResult.enabled("on simulated CUDA devices");
        }
        boolean required = context.getElement()
                .flatMap(element -> AnnotationSupport.findAnnotation(element, SimulatedCuda.class))
                .or(() -> context.getTestClass()
                        .flatMap(type -> AnnotationSupport.findAnnotation(type, SimulatedCuda.class)))
                .map(SimulatedCuda::required)
                .orElse(false);
        if (required) {
            throw new CudaSimulatorException(unavailable.get());
        }
        return ConditionEvaluationResult.disabled(unavailable.get());
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == CudaBackend.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return CudaBackend.of(0);
    }
}
