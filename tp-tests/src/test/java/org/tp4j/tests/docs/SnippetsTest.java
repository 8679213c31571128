package org.tp4j.tests.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * The Java code in documents and Javadoc compiles. A document's snippet brings its own imports. One in Javadoc sees every
 * public package, and the names of {@link SnippetNames} for what it leaves out.
 */
class SnippetsTest {
    private static final Path ROOT = Path.of(System.getProperty("tp.root"));
    private static final List<String> LIBRARIES = List.of("tp-core", "tp-cpu", "tp-cuda", "tp-nccl", "tp-cudasim");
    private static final Pattern FENCED = Pattern.compile("(?m)^( *)```java\\n(.*?)^ *```", Pattern.DOTALL);
    private static final Pattern IN_JAVADOC = Pattern.compile("<pre>\\{@code\\n(.*?)\\n? *\\* }</pre>", Pattern.DOTALL);

    @TempDir
    private Path folder;

    @TestFactory
    Stream<DynamicTest> shouldCompileTheCodeOfDocuments() throws IOException {
        List<DynamicTest> tests = new ArrayList<>();
        for (Path file : documents()) {
            int number = 0;
            for (MatchResult match : matches(FENCED, file)) {
                String code = match.group(2)
                        .lines()
                        .map(line -> unindent(line, match.group(1)))
                        .collect(Snippet.LINES);
                tests.add(test(file + " #" + ++number, Snippet.ofDocument(code)));
            }
        }
        assertThat(tests).isNotEmpty();
        return tests.stream();
    }

    @TestFactory
    Stream<DynamicTest> shouldCompileTheCodeOfJavadoc() throws IOException {
        List<Path> sources = sources();
        List<String> packages = sources.stream()
                .map(file -> file.getParent()
                        .toString()
                        .replaceAll(".*src/main/java/", "")
                        .replace('/', '.'))
                .distinct()
                .toList();
        List<DynamicTest> tests = new ArrayList<>();
        for (Path file : sources) {
            int number = 0;
            for (MatchResult match : matches(IN_JAVADOC, file)) {
                String code = match.group(1)
                        .lines()
                        .map(line -> line.replaceFirst("^ *\\* ?", ""))
                        .collect(Snippet.LINES);
                // What starts with a brace is JSON.
                if (!code.startsWith("{")) {
                    tests.add(test(file + " #" + ++number, Snippet.ofJavadoc(code, packages)));
                }
            }
        }
        assertThat(tests).isNotEmpty();
        return tests.stream();
    }

    @Test
    void shouldSayWhatDoesNotCompile() {
        assertThat(Snippet.ofDocument("import java.util.List;\nList.of(1);").errors(folder))
                .isEmpty();
        assertThat(Snippet.ofDocument("List.of(1);").errors(folder)).anyMatch(error -> error.contains("List"));
        assertThat(Snippet.ofDocument("import org.tp4j.nn.Gone;\nclass A {}").errors(folder))
                .anyMatch(error -> error.contains("Gone"));
        assertThat(Snippet.ofJavadoc("model.forget();", List.of("org.tp4j.nn")).errors(folder))
                .anyMatch(error -> error.contains("forget"));
    }

    private DynamicTest test(String name, Snippet snippet) {
        return DynamicTest.dynamicTest(name, () -> {
            List<String> errors = snippet.errors(folder);
            assertThat(errors).as("%s%n%s", name, snippet.source()).isEmpty();
        });
    }

    private static List<Path> documents() throws IOException {
        try (Stream<Path> top = Files.list(ROOT);
                Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
            return Stream.concat(top, docs)
                    .filter(file -> file.toString().endsWith(".md"))
                    .map(ROOT::relativize)
                    .sorted()
                    .toList();
        }
    }

    /** The libraries' sources, below the root; without internals. */
    private static List<Path> sources() throws IOException {
        List<Path> sources = new ArrayList<>();
        for (String library : LIBRARIES) {
            try (Stream<Path> files = Files.walk(ROOT.resolve(library).resolve("src/main/java"))) {
                files.map(ROOT::relativize)
                        .filter(file -> file.toString().endsWith(".java") && !file.endsWith("module-info.java"))
                        .filter(file -> !file.toString().contains("/internal/"))
                        .sorted()
                        .forEach(sources::add);
            }
        }
        return sources;
    }

    private static List<MatchResult> matches(Pattern pattern, Path file) throws IOException {
        return pattern.matcher(Files.readString(ROOT.resolve(file))).results().toList();
    }

    private static String unindent(String line, String indent) {
        return line.startsWith(indent) ? line.substring(indent.length()) : line;
    }
}
