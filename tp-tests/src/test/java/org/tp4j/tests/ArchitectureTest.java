package org.tp4j.tests;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;
import static com.tngtech.archunit.library.GeneralCodingRules.ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The shape of the library: which package may use which. A new package of tp-core is added to {@link #CORE}. */
class ArchitectureTest {
    /** The packages of tp-core from the ground up: each may import itself and those before it. */
    private static final List<String> CORE = List.of(
            "tensor.internal.math",
            "tensor.internal.services",
            "tensor",
            "tensor.internal",
            "tensor.meta",
            "comm.internal",
            "comm",
            "comm.internal.agreement",
            "comm.record",
            "comm.engine",
            "comm.internal.control",
            "comm.launch",
            "mesh",
            "layout",
            "layout.internal",
            "op",
            "op.internal",
            "autograd.internal",
            "autograd",
            "nn.internal",
            "nn",
            "parallel",
            "planner",
            "optim",
            "checkpoint");

    /** The modules that users depend on; the rest are programs. */
    private static final String[] LIBRARY =
            areas(Stream.concat(CORE.stream(), Stream.of("cpu", "threads", "mpi", "cuda", "nccl", "cudasim"))
                    .toList());

    /** What tp-core may depend on besides itself: no AWT, no databinding, no native library. */
    private static final List<String> CORE_LIBRARIES = List.of(
            "java.lang..",
            "java.util..",
            "java.io..",
            "java.math..",
            "java.net..",
            "java.nio..",
            "java.security..",
            "java.time..",
            "java.text..",
            "javax.crypto..",
            "org.slf4j..",
            "com.fasterxml.jackson.core..",
            "org.jspecify.annotations..");

    private static JavaClasses all;

    @BeforeAll
    static void importClasses() {
        all = new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .importPackages("org.tp4j");
    }

    static IntStream corePackages() {
        return IntStream.range(0, CORE.size() - 1);
    }

    @ParameterizedTest
    @MethodSource("corePackages")
    void shouldImportOnlyPackagesBelow(int place) {
        noClasses()
                .that()
                .resideInAPackage(name(CORE.get(place)))
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(names(CORE.subList(place + 1, CORE.size())))
                .as(CORE.get(place) + " imports only " + CORE.subList(0, place))
                .allowEmptyShould(true)
                .check(all);
    }

    @Test
    void shouldKnowThePlaceOfEveryCorePackage() {
        Set<String> unplaced = new TreeSet<>();
        for (JavaClass type : all) {
            String source = type.getSource().map(s -> s.getUri().toString()).orElse("");
            if ((source.contains("/tp-core/") || source.contains("/tp-core-"))
                    && !CORE.contains(type.getPackageName().replace("org.tp4j.", ""))) {
                unplaced.add(type.getPackageName());
            }
        }
        assertThat(unplaced).isEmpty();
    }

    @Test
    void shouldHaveNoCyclesBetweenPackages() {
        slices().assignedFrom(new Packages())
                .should()
                .beFreeOfCycles()
                .allowEmptyShould(true)
                .check(all);
    }

    @Test
    void shouldKeepCoreFreeOfDevicesAndLibraries() {
        // An array of primitives is a class without a package.
        String[] allowed = Stream.of(List.of(areas(CORE)), CORE_LIBRARIES, List.of(""))
                .flatMap(List::stream)
                .toArray(String[]::new);
        classes()
                .that()
                .resideInAnyPackage(areas(CORE))
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(allowed)
                .check(all);
    }

    @Test
    void shouldKeepModulesApart() {
        forbid("cpu", "threads", "mpi", "cuda", "nccl", "examples", "tests");
        forbid("threads", "mpi", "cuda", "nccl", "examples", "tests");
        forbid("mpi", "threads", "cuda", "nccl", "examples", "tests");
        forbid("cuda", "cpu", "threads", "mpi", "nccl", "examples", "tests");
        forbid("nccl", "cpu", "threads", "mpi", "examples", "tests");
        forbid("examples", "cuda", "nccl", "cudasim", "tests");
        forbid("cudasim", "cpu", "threads", "mpi", "nccl", "examples", "tests");
    }

    @Test
    void shouldTouchTheVectorApiInOnePackageOnly() {
        noClasses()
                .that()
                .resideOutsideOfPackage("org.tp4j.cpu.internal.vector..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("jdk.incubator..")
                .check(all);
    }

    @Test
    void shouldShowExamplesWithoutInternals() {
        noClasses()
                .that()
                .resideInAPackage("org.tp4j.examples..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.tp4j.(*)..internal..")
                .allowEmptyShould(true)
                .check(all);
    }

    @Test
    void shouldHaveNoReassignableStaticState() {
        noFields()
                .that()
                .areDeclaredInClassesThat()
                .resideInAnyPackage(LIBRARY)
                .and()
                .areStatic()
                .should()
                .notBeFinal()
                .check(all);
    }

    @Test
    void shouldNeverPrintFromTheLibrary() {
        noClasses()
                .that()
                .resideInAnyPackage(LIBRARY)
                .and()
                .doNotHaveFullyQualifiedName("org.tp4j.tensor.internal.Notices")
                .should(ACCESS_STANDARD_STREAMS)
                .check(all);
    }

    @Test
    void shouldNeverEndTheProcessFromTheLibrary() {
        noClasses()
                .that()
                .resideInAnyPackage(LIBRARY)
                .should()
                .callMethod(System.class, "exit", int.class)
                .check(all);
    }

    private static void forbid(String module, String... others) {
        noClasses()
                .that()
                .resideInAPackage(area(module))
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(areas(List.of(others)))
                .allowEmptyShould(true)
                .check(all);
    }

    private static String area(String name) {
        return "org.tp4j." + name + "..";
    }

    private static String name(String name) {
        return "org.tp4j." + name;
    }

    private static String[] names(List<String> names) {
        return names.stream().map(ArchitectureTest::name).toArray(String[]::new);
    }

    private static String[] areas(List<String> names) {
        return names.stream().map(ArchitectureTest::area).toArray(String[]::new);
    }

    /** One slice per package. */
    private static final class Packages implements SliceAssignment {
        @Override
        public SliceIdentifier getIdentifierOf(JavaClass type) {
            return SliceIdentifier.of(type.getPackageName());
        }

        @Override
        public String getDescription() {
            return "packages";
        }
    }
}
