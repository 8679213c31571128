/**
 * Tensors in files.
 *
 * <h2>The safetensors format in short</h2>
 *
 * <table>
 * <caption>A file, from its first byte to its last</caption>
 * <tr><th>bytes</th><th>content</th></tr>
 * <tr><td>8</td><td>N, the length of the header, unsigned, little-endian</td></tr>
 * <tr><td>N</td><td>the header, a JSON object in UTF-8 that begins with <code>{</code> and may end in blanks</td></tr>
 * <tr><td>the rest</td><td>the elements of all tensors, row-major, little-endian, without gaps</td></tr>
 * </table>
 *
 * <p>The header maps names to tensors, and the name {@code __metadata__} to free text:
 *
 * <pre>{@code
 * {"__metadata__": {"format": "pt"},
 *  "weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
 *  "bias":   {"dtype": "F32", "shape": [2],    "data_offsets": [24, 32]}}
 * }</pre>
 *
 * <p>Offsets are counted from the first byte after the header; the second is exclusive. The ranges cover the data
 * exactly, in any order: no byte belongs to two tensors or to none. A scalar has shape {@code []}; a tensor with a size
 * of 0 has no bytes. {@link org.tp4j.checkpoint.SafetensorsType} lists the types.
 *
 * <h2>Where this reader is stricter than the reference</h2>
 *
 * <p>Both refuse damaged lengths, shapes, types and ranges, holes, a header above 100 MB, and invalid JSON. Refused
 * here too: a duplicate name, fields the format does not have, a {@code __metadata__} of {@code null}, blanks
 * before the opening brace, more than 64 dimensions, sizes or offsets above 2^63 - 1, and truth values other than 0 and
 * 1 when they are read as a tensor. Every refusal is a {@link org.tp4j.checkpoint.SafetensorsException} with the file,
 * the tensor and the reason.
 *
 * @see <a href="https://huggingface.co/docs/safetensors">The format's description</a>
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.checkpoint;
