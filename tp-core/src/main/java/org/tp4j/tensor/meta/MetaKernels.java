package org.tp4j.tensor.meta;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.jspecify.annotations.Nullable;

/** Kernels that do nothing. The only result one returns is the place of an id out of range, and there is none. */
final class MetaKernels implements InvocationHandler {
    private static final long NOT_FOUND = -1;

    private MetaKernels() {}

    /** All kernels of an interface. */
    static <T> T of(Class<T> kernels) {
        return kernels.cast(
                Proxy.newProxyInstance(kernels.getClassLoader(), new Class<?>[] {kernels}, new MetaKernels()));
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
        if (method.getDeclaringClass() == Object.class) {
            return method.invoke(this, arguments);
        }
        return method.getReturnType() == long.class ? NOT_FOUND : null;
    }
}
