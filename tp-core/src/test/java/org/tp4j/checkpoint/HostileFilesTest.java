package org.tp4j.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Damaged files are refused when they are opened, each with its reason. */
class HostileFilesTest {
    @TempDir
    Path folder;

    static Stream<Arguments> caseA36() throws IOException {
        Map<String, String> reasons = Map.ofEntries(
                Map.entry("empty_file", "has 0 bytes, too few for the 8-byte header length"),
                Map.entry("seven_bytes", "has 7 bytes, too few for the 8-byte header length"),
                Map.entry("header_length_beyond_file", "header length 500 reaches beyond the file of 66 bytes"),
                Map.entry("header_length_2_pow_63", "header length 9223372036854775808 reaches beyond the file"),
                Map.entry("data_truncated", "tensor 'a': its bytes [0, 8] reach beyond the 5 bytes that follow"),
                Map.entry("overlap", "tensor 'b': its bytes [4, 12] overlap those of 'a' [0, 8]"),
                Map.entry("negative_dim", "tensor 'a': size of dimension 0 is negative: -1"),
                Map.entry("bytes_do_not_match_shape", "tensor 'a': shape [3] of F32 has 12 bytes, but [0, 8] are 8"),
                Map.entry("duplicate_key", "tensor 'a': appears twice in the header"),
                Map.entry("unknown_dtype", "tensor 'a': unknown dtype 'F33'; the format has [BOOL, F4,"),
                Map.entry("not_json", "header is not JSON: Unrecognized token 'oops'"));
        Map<?, ?> files = (Map<?, ?>) TestFiles.loadCase("A36").get("files_hex");
        assertThat(reasons.keySet()).isEqualTo(files.keySet());
        return files.entrySet().stream()
                .map(file -> Arguments.of(
                        file.getKey(), HexFormat.of().parseHex((String) file.getValue()), reasons.get(file.getKey())));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("caseA36")
    void shouldRefuseDamagedFileOfCaseA36(String name, byte[] content, String reason) throws IOException {
        refused(content, reason);
    }

    static Stream<Arguments> headers() {
        String f = "\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]";
        String big = "9223372036854775807";
        return Stream.of(
                // not a header
                Arguments.of("", 0, "header does not begin with '{'"),
                Arguments.of(" {}", 0, "header does not begin with '{'"),
                Arguments.of("\uFEFF{}", 0, "header does not begin with '{'"),
                Arguments.of("[]", 0, "header does not begin with '{'"),
                Arguments.of("{", 0, "header is not JSON: Unexpected end-of-input"),
                Arguments.of("{}{}", 0, "something follows the header's closing brace"),
                Arguments.of("{}\0", 0, "header is not JSON: Illegal character"),
                Arguments.of("{} 7", 0, "something follows the header's closing brace"),
                Arguments.of("{}}", 0, "header is not JSON: Unexpected close marker"),
                Arguments.of("{'a':{}}", 0, "header is not JSON"),
                Arguments.of("{/**/}", 0, "header is not JSON"),
                Arguments.of("{\"a\":{" + f + "},}", 4, "header is not JSON"),
                Arguments.of("{\"a\nb\":{" + f + "}}", 4, "header is not JSON"),
                // metadata
                Arguments.of("{\"__metadata__\":null}", 0, "__metadata__ is not an object"),
                Arguments.of("{\"__metadata__\":[]}", 0, "__metadata__ is not an object"),
                Arguments.of(
                        "{\"__metadata__\":{\"k\":1}}",
                        0,
                        "__metadata__ holds a value that is not a string, under 'k'"),
                Arguments.of("{\"__metadata__\":{\"k\":{}}}", 0, "__metadata__ holds a value that is not a string"),
                Arguments.of("{\"__metadata__\":{\"k\":null}}", 0, "__metadata__ holds a value that is not a string"),
                Arguments.of("{\"__metadata__\":{\"k\":\"\",\"k\":\"\"}}", 0, "__metadata__ holds 'k' twice"),
                Arguments.of(
                        "{\"__metadata__\":{},\"__metadata__\":{}}", 0, "__metadata__ appears twice in the header"),
                // fields
                Arguments.of("{\"a\":7}", 0, "tensor 'a': its description is not an object"),
                Arguments.of("{\"a\":[" + "[".repeat(2000) + "}", 0, "tensor 'a': its description is not an object"),
                Arguments.of("{\"a\":{}}", 0, "tensor 'a': field 'dtype' is missing"),
                Arguments.of(
                        "{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}",
                        4,
                        "tensor 'a': field 'shape' is missing"),
                Arguments.of(
                        "{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, "tensor 'a': field 'data_offsets' is missing"),
                Arguments.of("{\"a\":{" + f + ",\"device\":\"cpu\"}}", 4, "tensor 'a': unknown field 'device'"),
                Arguments.of("{\"a\":{" + f + ",\"dtype\":\"F32\"}}", 4, "tensor 'a': field 'dtype' appears twice"),
                Arguments.of("{\"a\":{" + f + ",\"shape\":[1]}}", 4, "tensor 'a': field 'shape' appears twice"),
                Arguments.of("{\"a\":{" + f + ",\"data_offsets\":[0,4]}}", 4, "field 'data_offsets' appears twice"),
                Arguments.of("{\"a\":{\"dtype\":null}}", 0, "tensor 'a': dtype is not a string"),
                Arguments.of("{\"a\":{\"dtype\":\"f32\"}}", 0, "tensor 'a': unknown dtype 'f32'"),
                Arguments.of("{\"a\":{\"shape\":4}}", 0, "tensor 'a': shape is not an array"),
                Arguments.of("{\"a\":{\"data_offsets\":{}}}", 0, "tensor 'a': data_offsets is not an array"),
                Arguments.of("{\"a\":{\"data_offsets\":[]}}", 0, "tensor 'a': data_offsets has 0 of 2 numbers"),
                Arguments.of("{\"a\":{\"data_offsets\":[0]}}", 0, "tensor 'a': data_offsets has 1 of 2 numbers"),
                Arguments.of(
                        "{\"a\":{\"data_offsets\":[0,4,8]}}", 4, "tensor 'a': data_offsets has more than 2 numbers"),
                Arguments.of("{\"\\ud800\":{" + f + "}}", 4, "surrogate"),
                Arguments.of("{\"\\udc00\":{" + f + "}}", 4, "surrogate"),
                Arguments.of("{\"\\ud800\\u0041\":{" + f + "}}", 4, "surrogate"),
                Arguments.of("{\"__metadata__\":{\"k\":\"\\ud800x\"}}", 0, "surrogate"),
                Arguments.of("{\"__metadata__\":{\"k\":\"\\udc00\"}}", 0, "surrogate"),
                // numbers
                Arguments.of(shape("1.0"), 4, "tensor 'a': size of dimension 0 is not a whole number"),
                Arguments.of(shape("1e0"), 4, "tensor 'a': size of dimension 0 is not a whole number"),
                Arguments.of(shape("\"1\""), 4, "tensor 'a': size of dimension 0 is not a whole number"),
                Arguments.of(shape("true"), 4, "tensor 'a': size of dimension 0 is not a whole number"),
                Arguments.of(shape("[1]"), 4, "tensor 'a': size of dimension 0 is not a whole number"),
                Arguments.of(shape("1,-0"), 4, "tensor 'a': size of dimension 1 is negative: -0"),
                Arguments.of(shape("01"), 4, "header is not JSON"),
                Arguments.of(shape("9223372036854775808"), 4, "dimension 0 is above 2^63 - 1: '9223372036854775808'"),
                Arguments.of(shape("9".repeat(900)), 4, "tensor 'a': size of dimension 0 is above 2^63 - 1: '999"),
                Arguments.of(shape("9".repeat(5000)), 4, "header is not JSON: Number value length"),
                Arguments.of(shape(big), 4, "tensor 'a': shape [" + big + "] of F32 has more than 2^63 - 1 bytes"),
                Arguments.of(shape(big + ",2"), 4, "tensor 'a': shape [" + big + ", 2] has more than 2^63 - 1"),
                Arguments.of(shape(big + ",2,0"), 4, "tensor 'a': shape [" + big + ", 2, 0] has more than 2^63 - 1"),
                Arguments.of(shape("1" + ",1".repeat(64)), 4, "tensor 'a': shape has more than 64 dimensions"),
                // 2^62 elements of 4 bytes are 2^64 bytes: 0 if it wraps around
                Arguments.of(entry("F32", "4611686018427387904", "0,0"), 0, "has more than 2^63 - 1 bytes"),
                Arguments.of(entry("F4", "9223372036854775807", "0,0"), 0, "has more than 2^63 - 1 bits"),
                Arguments.of(
                        entry("F4", "3", "0,2"),
                        2,
                        "shape [3] of F4 has 12 bits, which is not a whole number of bytes"),
                // ranges
                Arguments.of(entry("F32", "1", "-4,0"), 4, "tensor 'a': data_offsets[0] is negative: -4"),
                Arguments.of(entry("F32", "1", "0,18446744073709551620"), 4, "data_offsets[1] is above 2^63 - 1"),
                Arguments.of(entry("F32", "1", "4,0"), 4, "tensor 'a': [4, 0] is not a range of bytes"),
                Arguments.of(entry("F32", "0", big + "," + big), 0, "reach beyond the 0 bytes that follow the header"),
                Arguments.of(entry("F32", "1", "4,8"), 4, "its bytes [4, 8] reach beyond the 4 bytes that follow"),
                Arguments.of(entry("F32", "1", "4,8"), 8, "bytes [0, 4] belong to no tensor"),
                Arguments.of(entry("F32", "1", "0,4"), 5, "bytes [4, 5] belong to no tensor"),
                Arguments.of("{}", 1, "bytes [0, 1] belong to no tensor"),
                Arguments.of(two("0,4", "8,12"), 12, "tensor 'b': bytes [4, 8] belong to no tensor"),
                Arguments.of(two("0,4", "0,4"), 4, "tensor 'b': its bytes [0, 4] overlap those of 'a' [0, 4]"),
                Arguments.of(two("1,5", "0,4"), 5, "tensor 'a': its bytes [1, 5] overlap those of 'b' [0, 4]"),
                Arguments.of(
                        "{\"a\":{" + f + "},\"b\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[2,2]}}",
                        4,
                        "tensor 'b': its bytes [2, 2] overlap those of 'a' [0, 4]"));
    }

    @ParameterizedTest(name = "{index}: {2}")
    @MethodSource("headers")
    void shouldRefuseHeader(String header, int dataBytes, String reason) throws IOException {
        refused(TestFiles.of(header, new byte[dataBytes]), reason);
    }

    @Test
    void shouldRefuseHeaderThatIsNotUtf8() throws IOException {
        for (String bad : List.of("ff", "c0af", "eda080", "f4908080", "80", "c3")) {
            byte[] file = TestFiles.of("{\"__metadata__\":{\"k\":\"" + "?".repeat(bad.length() / 2) + "\"}}");
            byte[] bytes = HexFormat.of().parseHex(bad);
            int at = new String(file, StandardCharsets.ISO_8859_1).indexOf('?');
            System.arraycopy(bytes, 0, file, at, bytes.length);
            refused(file, "header is not UTF-8");
        }
    }

    @Test
    void shouldRefuseHeaderInUtf16() throws IOException {
        byte[] text = "{}".getBytes(StandardCharsets.UTF_16LE);
        byte[] file = TestFiles.of("    ");
        System.arraycopy(text, 0, file, 8, text.length);
        refused(file, "header is not JSON");
    }

    @Test
    void shouldRefuseHeaderAboveTheFormatsLimitWithoutReadingIt() throws IOException {
        Path path = TestFiles.write(folder, TestFiles.of(""));
        try (RandomAccessFile sparse = new RandomAccessFile(path.toFile(), "rw")) {
            sparse.setLength(200_000_000);
            sparse.write(HexFormat.of().parseHex("01e1f50500000000")); // 100,000,001
        }
        SafetensorsException e = catchThrowableOfType(SafetensorsException.class, () -> SafetensorsFile.open(path));
        assertThat(e.reason()).isEqualTo("header length 100000001 is above the format's limit of 100000000 bytes");
    }

    @Test
    void shouldShowHostileNamesHarmlessly() throws IOException {
        String name = "a\\n2025 INFO all is well\\u001b[31m\\u202e" + "x".repeat(100_000);
        SafetensorsException e = refused(TestFiles.of("{\"" + name + "\":7}"), "its description is not an object");
        assertThat(e.getMessage())
                .doesNotContain("\n", "\u001b", "\u202e")
                .contains("'a\\u000a2025 INFO all is well\\u001b[31m\\u202exxx", "'... (100029 characters)")
                .hasSizeLessThan(1000);
        assertThat(e.tensor().orElseThrow()).startsWith("a\n2025").hasSizeGreaterThan(100_000);
    }

    @Test
    void shouldSayThatThereIsNoSuchFile() {
        SafetensorsException e = catchThrowableOfType(
                SafetensorsException.class, () -> SafetensorsFile.open(folder.resolve("absent.safetensors")));
        assertThat(e).hasMessage(folder.resolve("absent.safetensors") + ": does not exist");
        e = catchThrowableOfType(SafetensorsException.class, () -> SafetensorsFile.open(folder));
        assertThat(e).hasMessage(folder + ": is not a regular file");
    }

    /** Checks the refusal, its message, and that nothing of the file is held afterwards. */
    private SafetensorsException refused(byte[] content, String reason) throws IOException {
        Path path = TestFiles.write(folder, content);
        SafetensorsException e = catchThrowableOfType(SafetensorsException.class, () -> SafetensorsFile.open(path));
        assertThat(e).as(Arrays.toString(content)).isNotNull().hasMessageStartingWith(path + ": ");
        assertThat(e.getMessage()).contains(reason);
        assertThat(e.file()).isEqualTo(path);
        FileChannel channel = FileChannel.open(path, StandardOpenOption.READ);
        assertThat(catchThrowableOfType(SafetensorsException.class, () -> SafetensorsFile.open(path, channel)))
                .hasMessage(e.getMessage());
        assertThat(channel.isOpen()).isFalse();
        Files.delete(path);
        return e;
    }

    private static String shape(String sizes) {
        return entry("F32", sizes, "0,4");
    }

    private static String entry(String dtype, String sizes, String range) {
        return "{\"a\":{\"dtype\":\"" + dtype + "\",\"shape\":[" + sizes + "],\"data_offsets\":[" + range + "]}}";
    }

    private static String two(String a, String b) {
        return "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[" + a
                + "]},\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[" + b + "]}}";
    }
}
