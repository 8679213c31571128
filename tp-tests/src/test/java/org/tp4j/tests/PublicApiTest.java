package org.tp4j.tests;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The public API is recorded in a file, so that changing it is a decision: all that users of the class path can name outside
 * packages called internal. {@code -Dtp4j.api.write=true} writes the file again.
 */
class PublicApiTest {
    private static final Path FILE = Path.of("src/test/resources/public-api.txt");
    private static final List<String> PROGRAMS = List.of("org.tp4j.examples", "org.tp4j.tests");

    @Test
    void shouldBeTheApiOfTheFile() throws Exception {
        List<String> api = describe();
        if (Boolean.getBoolean("tp4j.api.write")) {
            Files.write(FILE, api);
        }
        List<String> accepted = Files.readAllLines(FILE);
        List<String> added = new ArrayList<>(api);
        added.removeAll(accepted);
        List<String> gone = new ArrayList<>(accepted);
        gone.removeAll(api);
        assertThat(Stream.concat(
                        added.stream().map(line -> "+ " + line), gone.stream().map(line -> "- " + line)))
                .as(
                        "changes of the public API; HINT: if they are meant, run this test with -Dtp4j.api.write=true and"
                                + " commit %s",
                        FILE)
                .isEmpty();
    }

    /** A line per type and member, sorted by type, members below their type. */
    private static List<String> describe() throws IOException, ClassNotFoundException {
        TreeMap<String, List<String>> types = new TreeMap<>();
        for (JavaClass found : new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .importPackages("org.tp4j")) {
            boolean program = PROGRAMS.stream().anyMatch(found.getPackageName()::startsWith);
            if (!program && !found.getPackageName().contains(".internal") && isVisible(found)) {
                Class<?> type = Class.forName(found.getName(), false, PublicApiTest.class.getClassLoader());
                types.put(type.getName(), describe(type));
            }
        }
        return types.values().stream().flatMap(List::stream).toList();
    }

    private static boolean isVisible(JavaClass type) {
        return type.getModifiers().contains(JavaModifier.PUBLIC)
                && type.getEnclosingClass().map(PublicApiTest::isVisible).orElse(true);
    }

    private static List<String> describe(Class<?> type) {
        List<String> lines = new ArrayList<>();
        Stream<Member> members = Stream.of(
                        type.getDeclaredFields(), type.getDeclaredConstructors(), type.getDeclaredMethods())
                .flatMap(Arrays::stream);
        String kind = type.isRecord() ? "record" : type.isEnum() ? "enum" : type.isInterface() ? "interface" : "class";
        String parent = type.getGenericSuperclass() == null || type.isRecord() || type.isEnum()
                ? ""
                : " extends " + type.getGenericSuperclass().getTypeName();
        String interfaces = Arrays.stream(type.getGenericInterfaces())
                .map(java.lang.reflect.Type::getTypeName)
                .reduce("", (all, one) -> all + (all.isEmpty() ? " : " : ", ") + one);
        lines.add(kind + " " + type.getName() + parent.replace(" extends java.lang.Object", "") + interfaces);
        members.filter(member -> Modifier.isPublic(member.getModifiers())
                        || Modifier.isProtected(member.getModifiers()) && !Modifier.isFinal(type.getModifiers()))
                .filter(member -> !member.isSynthetic())
                .map(PublicApiTest::describe)
                .map(member -> "    " + type.getSimpleName() + ": " + member.replace(type.getName() + ".", ""))
                .sorted()
                .forEach(lines::add);
        return lines;
    }

    private static String describe(Member member) {
        AnnotatedElement element = (AnnotatedElement) member;
        String text = element instanceof Method method
                ? method.toGenericString()
                : element instanceof Constructor<?> constructor
                        ? constructor.toGenericString()
                        : ((Field) element).toGenericString();
        return text.replace("java.lang.", "").replaceAll(" throws .*", "");
    }
}
