#include "isa/x86_features.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"

namespace ingot::isa {
namespace {

// Mnemonics that belong to one extension, separated by spaces; one that ends in
// * stands for all that start so.
struct Extension {
  absl::string_view feature;
  absl::string_view mnemonics;
};

bool Lists(absl::string_view mnemonics, absl::string_view mnemonic) {
  while (!mnemonics.empty()) {
    const size_t space = mnemonics.find(' ');
    absl::string_view each = mnemonics.substr(0, space);
    mnemonics.remove_prefix(space == absl::string_view::npos ? mnemonics.size()
                                                             : space + 1);
    if (absl::ConsumeSuffix(&each, "*") ? absl::StartsWith(mnemonic, each)
                                        : mnemonic == each) {
      return true;
    }
  }
  return false;
}

// The first extension that lists the mnemonic; empty if none does.
template <size_t n>
absl::string_view FindIn(const Extension (&extensions)[n],
                         absl::string_view mnemonic) {
  for (const Extension& extension : extensions) {
    if (Lists(extension.mnemonics, mnemonic)) return extension.feature;
  }
  return "";
}

// Without a VEX or EVEX prefix; everything else is part of x86-64.
constexpr Extension kLegacy[] = {
    {"sse3",
     "addsubpd addsubps haddpd haddps hsubpd hsubps lddqu movddup movshdup "
     "movsldup fisttp"},
    {"ssse3",
     "pabsb pabsw pabsd palignr phadd* phsub* pmaddubsw pmulhrsw pshufb psignb "
     "psignw psignd"},
    {"sse4.1",
     "blendp* blendvp* dppd dpps extractps insertps movntdqa mpsadbw packusdw "
     "pblendvb pblendw pcmpeqq pextrb pextrd pextrq phminposuw pinsrb pinsrd "
     "pinsrq pmaxsb pmaxsd pmaxud pmaxuw pminsb pminsd pminud pminuw pmovsx* "
     "pmovzx* pmuldq pmulld ptest roundp* rounds*"},
    {"sse4.2", "pcmpgtq pcmpestri pcmpestrm pcmpistri pcmpistrm crc32"},
    {"popcnt", "popcnt"},
    {"lzcnt", "lzcnt"},
    {"bmi", "tzcnt"},
    {"movbe", "movbe"},
    {"gfni", "gf2p8*"},
};

constexpr Extension kVex[] = {
    {"amx-int8", "tdpbssd tdpbsud tdpbusd tdpbuud"},
    {"amx-bf16", "tdpbf16ps"},
    {"amx-fp16", "tdpfp16ps"},
    {"amx-tile",
     "ldtilecfg sttilecfg tileloadd tileloaddt1 tilestored tilerelease "
     "tilezero"},
    {"bmi", "andn bextr blsi blsmsk blsr"},
    {"bmi2", "bzhi mulx pdep pext rorx sarx shlx shrx"},
    {"fma", "vfmadd* vfmsub* vfnmadd* vfnmsub*"},
    {"f16c", "vcvtph2ps vcvtps2ph"},
    {"avxneconvert",
     "vbcstne* vcvtneebf16* vcvtneobf16* vcvtneeph* vcvtneoph* "
     "vcvtneps2bf16"},
    {"avxvnni", "vpdpbusd vpdpbusds vpdpwssd vpdpwssds"},
    {"avxvnniint8", "vpdpbssd* vpdpbsud* vpdpbuud*"},
    {"avxifma", "vpmadd52*"},
    {"gfni", "vgf2p8*"},
    {"avx2",
     "vpbroadcast* vbroadcasti128 vpermd vpermps vpermq vpermpd vpsllvd "
     "vpsllvq vpsrlvd vpsrlvq vpsravd vpmaskmov* vextracti128 vinserti128 "
     "vperm2i128 vpblendd vpgather* vgather*"},
};

// On mask registers: the name ends in the width of the mask.
constexpr absl::string_view kMaskOperations =
    "kadd* kand* kandn* kmov* knot* kor* kortest* kshiftl* kshiftr* ktest* "
    "kunpck* kxnor* kxor*";
constexpr absl::string_view kMasksOfDq =
    "kaddb kaddw kandb kandnb kmovb knotb korb kortestb kshiftlb kshiftrb "
    "ktestb ktestw kxnorb kxorb";
constexpr absl::string_view kMasksOfF =
    "kandw kandnw kmovw knotw korw kortestw kshiftlw kshiftrw kunpckbw kxnorw "
    "kxorw";

constexpr Extension kEvex[] = {
    {"avx512cd", "vpbroadcastm* vpconflict* vplzcnt*"},
    {"avx512ifma", "vpmadd52*"},
    {"avx512vbmi", "vpermb vpermi2b vpermt2b vpmultishiftqb"},
    {"avx512vbmi2",
     "vpcompressb vpcompressw vpexpandb vpexpandw vpshld* vpshrd*"},
    {"avx512vnni", "vpdpbusd vpdpbusds vpdpwssd vpdpwssds"},
    {"avx512bitalg", "vpopcntb vpopcntw vpshufbitqmb"},
    {"avx512vpopcntdq", "vpopcntd vpopcntq"},
    {"avx512bf16", "vcvtne2ps2bf16 vcvtneps2bf16 vdpbf16ps"},
    {"gfni", "vgf2p8*"},
    {"avx512bw",
     "vdbpsadbw vmovdqu8 vmovdqu16 vpabsb vpabsw vpack* vpaddb vpaddw vpadds* "
     "vpaddus* vpalignr vpavg* vpblendmb vpblendmw vpbroadcastb vpbroadcastw "
     "vpcmpb vpcmpub vpcmpw vpcmpuw vpcmpeqb vpcmpeqw vpcmpgtb "
     "vpcmpgtw vpermw vpermi2w vpermt2w vpextrb vpextrw vpinsrb vpinsrw "
     "vpmaddubsw vpmaddwd vpmaxsb vpmaxsw vpmaxub vpmaxuw vpminsb vpminsw "
     "vpminub vpminuw vpmovb2m vpmovw2m vpmovm2b vpmovm2w vpmovwb vpmovswb "
     "vpmovuswb vpmovsxbw vpmovzxbw vpmulhrsw vpmulhuw vpmulhw vpmullw vpsadbw "
     "vpshufb vpshufhw vpshuflw vpslldq vpsrldq vpsllvw vpsllw vpsravw vpsraw "
     "vpsrlvw vpsrlw vpsubb vpsubw vpsubs* vpsubus* vptestmb vptestmw "
     "vptestnmb vptestnmw vpunpckhbw vpunpckhwd vpunpcklbw vpunpcklwd"},
    {"avx512dq",
     "vandp* vandnp* vorp* vxorp* vbroadcastf32x2 vbroadcasti32x2 "
     "vbroadcastf64x2 vbroadcasti64x2 vbroadcastf32x8 vbroadcasti32x8 "
     "vcvtpd2qq vcvtpd2uqq vcvtps2qq vcvtps2uqq vcvttpd2qq vcvttpd2uqq "
     "vcvttps2qq vcvttps2uqq vcvtqq2pd vcvtqq2ps vcvtuqq2pd vcvtuqq2ps "
     "vextractf32x8 vextractf64x2 vextracti32x8 vextracti64x2 vinsertf32x8 "
     "vinsertf64x2 vinserti32x8 vinserti64x2 vfpclass* vpextrd vpextrq vpinsrd "
     "vpinsrq vpmovd2m vpmovq2m vpmovm2d vpmovm2q vpmullq vrange* vreduce*"},
    {"avx512f",
     "vadd* vsub* vmul* vdiv* vmax* vmin* vsqrt* vfmadd* vfmsub* vfnmadd* "
     "vfnmsub* vcmp* vcomis* vucomis* vcvt* vmova* vmovup* vmovdqa32 vmovdqa64 "
     "vmovdqu32 vmovdqu64 vmovss vmovsd vmovd vmovq vmovnt* vmovddup vmovshdup "
     "vmovsldup vmovhlps vmovlhps vmovhp* vmovlp* vblendm* vpblendmd vpblendmq "
     "valign* vbroadcastss vbroadcastsd vbroadcastf32x4 vbroadcasti32x4 "
     "vbroadcastf64x4 vbroadcasti64x4 vcompress* vexpand* vpcompress* "
     "vpexpand* vextract* vinsert* vfixupimm* vgather* vpgather* vscatter* "
     "vpscatter* vgetexp* vgetmant* vpabs* vpadd* vpand* vpor* vpxor* vpcmp* "
     "vperm* vpmax* vpmin* vpmov* vpmul* vprol* vpror* vpsll* vpsra* vpsrl* "
     "vpsub* vpternlog* vptestm* vptestnm* vpunpck* vpshufd vpbroadcast* "
     "vrcp14* vrsqrt14* vrndscale* vscalef* vshuf* vunpck*"},
};

// EVEX instructions on one element, or on 128 bits only, need no avx512vl.
bool HasNoLength(absl::string_view mnemonic) {
  if (Lists("vmovd vmovq vmovw vmovhlps vmovlhps vmovhpd vmovhps vmovlpd "
            "vmovlps vextractps vinsertps vpextr* vpinsr* vcvtss2* vcvtsd2* "
            "vcvtsh2* vcvttss2* vcvttsd2* vcvttsh2*",
            mnemonic)) {
    return true;
  }
  if (absl::StartsWith(mnemonic, "vp") ||
      absl::StartsWith(mnemonic, "vbroadcast")) {
    return false;
  }
  return absl::EndsWith(mnemonic, "ss") || absl::EndsWith(mnemonic, "sd") ||
         absl::EndsWith(mnemonic, "sh");
}

X86Needs NeedsOfEvex(absl::string_view mnemonic, const X86Encoding& encoding) {
  const bool half =
      absl::EndsWith(mnemonic, "ph") || absl::EndsWith(mnemonic, "sh");
  const absl::string_view feature =
      encoding.opcode_map >= 5 || (half && mnemonic != "vcvtps2ph")
          ? "avx512fp16"
          : FindIn(kEvex, mnemonic);
  if (feature.empty()) return {{}, false};
  X86Needs needs{{feature}, true};
  if (encoding.vector_bits < 512 && !HasNoLength(mnemonic)) {
    needs.features.push_back("avx512vl");
  }
  // These do not imply the registers that they are used on.
  if (feature == "gfni" ||
      (needs.features.size() == 2 && feature != "avx512f")) {
    needs.features.push_back("avx512f");
  }
  return needs;
}

X86Needs NeedsOfVex(absl::string_view mnemonic, const X86Encoding& encoding) {
  if (const absl::string_view feature = FindIn(kVex, mnemonic);
      !feature.empty()) {
    if (feature == "gfni") return {{feature, "avx"}, true};
    return {{feature}, true};
  }
  if (Lists(kMaskOperations, mnemonic)) {
    if (Lists(kMasksOfDq, mnemonic)) return {{"avx512dq"}, true};
    if (Lists(kMasksOfF, mnemonic)) return {{"avx512f"}, true};
    return {{"avx512bw"}, true};
  }
  if (mnemonic.empty() || mnemonic[0] != 'v') return {{}, false};
  const bool from_register =
      Lists("vbroadcastss vbroadcastsd", mnemonic) && encoding.register_operand;
  const bool wide_integers =
      encoding.vector_bits == 256 &&
      (absl::StartsWith(mnemonic, "vp") ||
       Lists("vmovntdqa vmpsadbw", mnemonic)) &&
      !Lists("vpermilps vpermilpd vperm2f128 vptest", mnemonic);
  return {{from_register || wide_integers ? "avx2" : "avx"}, true};
}

}  // namespace

X86Encoding ReadX86Encoding(absl::Span<const uint8_t> bytes) {
  constexpr uint8_t kPrefixes[] = {0x66, 0xF2, 0xF3, 0xF0, 0x2E, 0x36,
                                   0x3E, 0x26, 0x64, 0x65, 0x67};
  X86Encoding encoding;
  size_t at = 0;
  const auto byte = [&bytes](size_t i) -> uint8_t {
    return i < bytes.size() ? bytes[i] : 0;
  };
  while (at < bytes.size() &&
         std::find(std::begin(kPrefixes), std::end(kPrefixes), bytes[at]) !=
             std::end(kPrefixes)) {
    ++at;
  }
  const auto set_operand = [&](size_t modrm) {
    encoding.register_operand = byte(modrm) >> 6 == 3;
  };
  switch (byte(at)) {
    case 0xC5:
      encoding.kind = X86Encoding::kVex;
      encoding.opcode_map = 1;
      encoding.vector_bits = (byte(at + 1) & 4) != 0 ? 256 : 128;
      set_operand(at + 3);
      return encoding;
    case 0xC4:
      encoding.kind = X86Encoding::kVex;
      encoding.opcode_map = byte(at + 1) & 31;
      encoding.vector_bits = (byte(at + 2) & 4) != 0 ? 256 : 128;
      set_operand(at + 4);
      return encoding;
    case 0x62: {
      encoding.kind = X86Encoding::kEvex;
      encoding.opcode_map = byte(at + 1) & 7;
      set_operand(at + 5);
      // With registers alone, this bit asks for a rounding mode, which takes
      // the place of the length and leaves 512 bits.
      const bool rounds = (byte(at + 3) & 16) != 0 && encoding.register_operand;
      encoding.vector_bits = rounds ? 512 : 128 << (byte(at + 3) >> 5 & 3);
      return encoding;
    }
    default:
      break;
  }
  if ((byte(at) & 0xF0) == 0x40) ++at;  // REX
  if (byte(at) == 0x0F) {
    encoding.opcode_map = byte(at + 1) == 0x38   ? 2
                          : byte(at + 1) == 0x3A ? 3
                                                 : 1;
  }
  return encoding;
}

X86Needs NeedsOfX86(absl::string_view mnemonic, const X86Encoding& encoding) {
  switch (encoding.kind) {
    case X86Encoding::kEvex:
      return NeedsOfEvex(mnemonic, encoding);
    case X86Encoding::kVex:
      return NeedsOfVex(mnemonic, encoding);
    case X86Encoding::kLegacy:
      break;
  }
  // SSE2 can take a word out of a register, SSE4.1 also put it into memory.
  if (mnemonic == "pextrw" && encoding.opcode_map == 3) {
    return {{"sse4.1"}, true};
  }
  const absl::string_view feature = FindIn(kLegacy, mnemonic);
  if (feature.empty()) return {};
  return {{feature}, true};
}

}  // namespace ingot::isa
