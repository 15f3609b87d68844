// The words by which an operator's compute function tells a schedule what an
// operation is. An operation without tags is scheduled by its shape alone,
// which is always correct and often good enough.
//
// Convention: the key kAnchor names the family. The family fixes the order of
// the operation's axes, so that a schedule can find its loops:
//
//   anchor           axes                     reduce axes
//   conv2d_nchwc     n, oc/b, oh, ow, b       ic/ib, kh, kw, ib
//                      data [n, ic/ib, h, w, ib], weight [oc/b, ic/ib, kh, kw,
//                      ib, b] with ic and oc counted within a group for the
//                      weight's second dimension. First layers may leave data
//                      plain: data [n, ic, h, w], weight [oc/b, ic, kh, kw, b]
//                      and reduce axes ic, kh, kw.
//   conv2d_nchw      n, oc, oh, ow            ic, kh, kw
//                      of groups, with the tag kGroupChannels: how many output
//                      channels each has
//   depthwise_nchwc  n, c/b, oh, ow, b        kh, kw
//                      weight [c/b, kh, kw, b]
//   matmul           batch..., m, n           k, or its parts
//                      value is a product of an element that does not depend on
//                      n and one that does not depend on m; transposes are
//                      in the indices.
//   dense_packed     batch..., m, n           k
//                      data [batch..., m, k], weight [n/nr, k, nr], zero in the
//                      columns beyond n, read at [n // nr, k, n % nr].
//   dense_parts      batch..., m, n           k/32, pairs, 2
//                      data [batch..., m, rows of parts, 32] of bf16, weight
//                      [n/16, k/32, parts, pairs, 16, 2], see the operator
//   dense_bits       batch..., m, n, lane     k/step
//                      weight [n, blocks, bytes] of u8; data split into what
//                      each byte's numbers meet, see the operator. One stage
//                      reads it, which adds up the lanes
//   dense_words      batch..., m, n           groups
//                      data bytes [batch..., m, k], weight words [n/nr, blocks,
//                      words, nr] with all of a group's in one value, see
//                      dense_bits_packed
//   dense_groups     batch..., m, groups, n   words of a group
//                      data bytes and weights as of dense_words, these unpacked
//                      to words of bytes [n/nr, groups, words, nr]. One stage
//                      reads it, which scales and adds up the groups
//   conv2d_parts     n, oc/16, oh, ow, 16     ic/32, kh, kw, pairs, 2
//                      data [n, ic/32, h, w, part, 32] of bf16, weight as of
//                      dense_parts. Of bytes the reduce axes are ic/64, kh, kw,
//                      words; data [n, ic/64, h, w, 1, 64] of u8, weight
//                      [oc/16, steps, words, 16] of i32
//   winograd         n, i, j, oc/b, rows, columns, b     ic/ib, ib
//                      the products at the points [i, j] of all tiles; data
//                      [n, i, j, ic/ib, rows, columns, ib], weight [oc/b, i, j,
//                      ic/ib, ib, b]. Of data of i16 the last reduce axis, and
//                      the weight's, has words: ib/2
//   pool2d           n, c, oh, ow [, b]       kh, kw
//   global_pool      n, c, 1, 1 [, b]         h, w
//   reduce           any                      any
//   softmax, norm    every stage of a row-wise group (max, exp, sum, scale)
//
// The other stages of Winograd's algorithm are tagged kWinograd themselves:
// computed once a tile, each by another formula for another row, they are never
// put where they are read.
//
// The stages that split data, or unpack weights, for these are tagged kParts,
// and are not put where they are read either.
//
// Every stage of an attention is tagged kAttention with its role, and is not
// put where it is read either. Axes: scaled queries [b, h, s, d]; product and
// scores [b, kv, h/kv, s, t]; max, top and sum [b, kv, h/kv, s]; exp as scores;
// values [b, kv, h/kv, s, v]; result [b, h, s, v]. Products are kMatmul as
// well. The scores are Select(And(...), ..., -inf), where conjuncts that
// compare the key's axis, on the left, with what does not depend on it say
// which keys count by their place; none: all do.
//
// A result that is read often, at places that data or tables tell, is tagged
// kTable: where the positions along an axis lie between the elements of another
// one, and the elements interpolated along some axes where others still are to
// be. On a processor it is made once, and not put where it is read, unless most
// of it is not read at all.
//
// 1-d convolutions and pools use the same words with h of extent 1; 3-d ones
// carry no tag.
//
// Padding is its own operation, tagged kPad, directly before its reader. Its
// value is Select(And(...), load, constant), where each conjunct compares one
// axis with a bound: Ge(i[2], top), Lt(i[2], top + h). No pad operation where
// nothing is padded.
#ifndef INGOT_COMPILER_TE_TAGS_H_
#define INGOT_COMPILER_TE_TAGS_H_

namespace ingot::te {

inline constexpr char kAnchor[] = "anchor";

inline constexpr char kConv2dNchwc[] = "conv2d_nchwc";
inline constexpr char kConv2dNchw[] = "conv2d_nchw";
inline constexpr char kDepthwiseNchwc[] = "depthwise_nchwc";
inline constexpr char kMatmul[] = "matmul";
inline constexpr char kDensePacked[] = "dense_packed";
inline constexpr char kWinograd[] = "winograd";  // and {"winograd": "1"}
inline constexpr char kDenseParts[] = "dense_parts";
inline constexpr char kDenseBits[] = "dense_bits";
inline constexpr char kDenseWords[] = "dense_words";
inline constexpr char kDenseGroups[] = "dense_groups";
inline constexpr char kConv2dParts[] = "conv2d_parts";
inline constexpr char kParts[] = "parts";  // {"parts": "1"}
inline constexpr char kPool2d[] = "pool2d";
inline constexpr char kGlobalPool[] = "global_pool";
inline constexpr char kReduce[] = "reduce";
inline constexpr char kSoftmax[] = "softmax";
inline constexpr char kNorm[] = "norm";

inline constexpr char kAttention[] = "attention";  // {"attention": role}
inline constexpr char kAttentionScaled[] = "scaled";
inline constexpr char kAttentionProduct[] = "product";
inline constexpr char kAttentionScores[] = "scores";
inline constexpr char kAttentionMax[] = "max";
inline constexpr char kAttentionTop[] = "top";
inline constexpr char kAttentionExp[] = "exp";
inline constexpr char kAttentionSum[] = "sum";
inline constexpr char kAttentionValues[] = "values";
inline constexpr char kAttentionResult[] = "result";

inline constexpr char kGroupChannels[] = "group_channels";  // "68"

inline constexpr char kTable[] = "table";  // {"table": "1"}

inline constexpr char kPad[] = "pad";  // {"pad": "1"}

}  // namespace ingot::te

#endif  // INGOT_COMPILER_TE_TAGS_H_
