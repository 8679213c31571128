package org.tp4j.tests.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collector;
import java.util.stream.Collectors;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * A piece of Java from a document, made into a source file.
 *
 * @param source the file
 */
record Snippet(String source) {
    static final Collector<CharSequence, ?, String> LINES = Collectors.joining("\n");

    private static final Pattern MEMBER = Pattern.compile("(private|protected|public) (?!.*\\bclass\\b)");
    private static final Pattern TYPE =
            Pattern.compile("(?m)^((public|final|abstract|sealed) )*(class|interface|record|enum|@interface) ");

    /** A snippet with its imports: types, or statements. */
    static Snippet ofDocument(String code) {
        String imports = code.lines().filter(Snippet::isImport).collect(LINES);
        String rest = code.lines().filter(line -> !isImport(line)).collect(LINES);
        String body = TYPE.matcher(rest).find() ? rest : "class Snippet {\n" + method(rest) + "}\n";
        return new Snippet("package snippet;\n" + imports + "\n" + body);
    }

    /** A snippet that leaves out what is obvious, and marks some of it by "...". */
    static Snippet ofJavadoc(String code, List<String> packages) {
        String imports = packages.stream().map(name -> "import " + name + ".*;").collect(LINES);
        // Members come first, if at all, and end at the dots.
        List<String> parts = MEMBER.matcher(code).lookingAt()
                ? List.of((code + "\n...\n").split("(?m)^\\.\\.\\.$", 2))
                : List.of("", code);
        return new Snippet("""
                package org.tp4j.tests.docs;
                import java.nio.*;
                import java.util.*;
                import org.jspecify.annotations.*;
                import org.junit.jupiter.api.Test;
                import org.tp4j.nn.Module;
                %s
                import static org.tp4j.layout.Placement.*;
                class Snippet extends SnippetNames {
                %s
                %s}
                """.formatted(imports, complete(parts.get(0)), method(complete(parts.get(1)))));
    }

    /** What the compiler objects to. */
    List<String> errors(Path folder) {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> problems = new DiagnosticCollector<>();
        JavaFileObject file =
                new SimpleJavaFileObject(URI.create("string:///Snippet.java"), JavaFileObject.Kind.SOURCE) {
                    @Override
                    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                        return source;
                    }
                };
        List<String> options = List.of(
                "-proc:none",
                "-Xlint:none",
                "-d",
                folder.toString(),
                "-classpath",
                System.getProperty("java.class.path"));
        try (StandardJavaFileManager files = compiler.getStandardFileManager(problems, Locale.ROOT, null)) {
            compiler.getTask(null, files, problems, options, null, List.of(file))
                    .call();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return problems.getDiagnostics().stream()
                .filter(problem -> problem.getKind() == Diagnostic.Kind.ERROR)
                .map(problem -> "line " + problem.getLineNumber() + ": " + problem.getMessage(Locale.ROOT))
                .toList();
    }

    private static boolean isImport(String line) {
        return line.startsWith("import ");
    }

    private static String method(String statements) {
        return "void run() throws Exception {\n" + statements + "\n}\n";
    }

    /** Gives a value for "= ...", drops other dots and what they say, and ends an expression as a statement. */
    private static String complete(String code) {
        String whole = code.replaceAll("= \\.\\.\\.;", "= null;")
                .replaceAll("(?m)^ *\\.\\.\\..*$", "")
                .replace("{ ... }", "{}")
                .strip();
        return whole.isEmpty() || whole.endsWith(";") || whole.endsWith("}") ? whole : whole + ";";
    }
}
