#include "isa/needed_features.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "isa/gnu_assembler.h"

namespace ingot::isa {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kIntel[] = ".intel_syntax noprefix; ";
constexpr size_t kSlot = 16;  // longer than any instruction

// The bytes of each instruction (Intel's syntax), padded with instructions that
// do nothing.
std::vector<std::string> Encode(const std::vector<std::string>& instructions) {
  std::string object;
  const std::set<int> refused = RefusedLines(
      absl::StrCat(kIntel, absl::StrJoin(instructions, "; .balign 16, 0x90\n"),
                   "; .balign 16, 0x90"),
      AssemblerFeatures(), &object);
  for (int line : refused) {
    ADD_FAILURE() << "not an instruction: " << instructions[std::max(line, 0)];
  }
  // The first section of an object of the GNU assembler is the code.
  constexpr size_t kHeader = 64;
  std::vector<std::string> encoded;
  for (size_t i = 0; refused.empty() && i < instructions.size(); ++i) {
    encoded.push_back(object.substr(kHeader + i * kSlot, kSlot));
  }
  return encoded;
}

// Checks what each instruction is said to need against the GNU assembler: with
// exactly that it takes the instruction, with less it does not.
void CheckInstructions(const std::vector<std::string>& instructions) {
  const std::vector<std::string> encoded = Encode(instructions);
  ASSERT_EQ(encoded.size(), instructions.size());
  std::map<std::vector<std::string>, std::vector<std::string>> by_needs;
  for (size_t i = 0; i < encoded.size(); ++i) {
    const auto needed = NeededFeaturesOfCode(encoded[i], "x86_64-linux-gnu",
                                             AssemblerFeatures());
    ASSERT_TRUE(needed.ok()) << needed.status();
    by_needs[*needed].push_back(instructions[i]);
  }
  for (const auto& [needed, group] : by_needs) {
    SCOPED_TRACE(absl::StrCat("said to need: ", absl::StrJoin(needed, " ")));
    const std::string source = absl::StrCat(kIntel, absl::StrJoin(group, "\n"));
    for (int line : RefusedLines(source, needed)) {
      ADD_FAILURE() << "needs more: " << group[std::max(line, 0)];
    }
    for (const std::string& feature : needed) {
      std::vector<std::string> rest;
      for (const std::string& each : needed) {
        if (each != feature) rest.push_back(each);
      }
      // Every AVX-512 extension brings its base.
      if (feature == "avx512f" &&
          std::any_of(rest.begin(), rest.end(), [](const std::string& each) {
            return absl::StartsWith(each, "avx512");
          })) {
        continue;
      }
      const std::set<int> refused = RefusedLines(source, rest);
      for (size_t i = 0; i < group.size(); ++i) {
        EXPECT_TRUE(refused.count(i) != 0)
            << "needs no " << feature << ": " << group[i];
      }
    }
  }
}

// Operands for the mnemonics that follow. R stands for each kind of vector
// register in turn, all numbered above 15, which makes the encoding EVEX.
struct Form {
  const char* operands;
  const char* mnemonics;
};

constexpr Form kForms[] = {
    {"R17, R18, R19",
     "vaddps vsubpd vmulps vdivpd vmaxps vminpd vfmadd231ps vfnmadd132pd "
     "vfmaddsub213ps vfmsub132ps vfnmsub213pd vpaddd vpaddq vpsubd vpmulld "
     "vpmuldq vpmuludq vpandd vpandnq vpord vpxorq vpmaxsd vpmaxuq vpminsq "
     "vpminud vpsllvd vpsravq vpsrlvq vprolvd vprorvq vunpcklps vunpckhpd "
     "vpunpckldq vpunpckhqdq vpermi2ps vpermt2d vpermi2q vscalefps vblendmps "
     "vpblendmd vpermilps"},
    {"R17, R18, R19",
     "vpaddb vpaddw vpaddsb vpaddusw vpsubb vpsubw vpsubsw vpsubusb vpavgb "
     "vpavgw vpmaxsb vpmaxsw vpmaxub vpmaxuw vpminsb vpminsw vpminub vpminuw "
     "vpmullw vpmulhw vpmulhuw vpmulhrsw vpmaddwd vpmaddubsw vpackssdw "
     "vpacksswb vpackusdw vpackuswb vpsadbw vpshufb vpermw vpermi2w vpermt2w "
     "vpsllvw vpsravw vpsrlvw vpblendmb vpblendmw vpunpcklbw vpunpckhbw "
     "vpunpcklwd vpunpckhwd"},
    {"R17, R18, R19",
     "vandps vandnpd vorps vxorpd vpmullq vpermb vpermi2b vpermt2b "
     "vpmultishiftqb vpshldvd vpshrdvw vpdpbusd vpdpbusds vpdpwssd vpdpwssds "
     "vdpbf16ps vcvtne2ps2bf16 vpmadd52luq vpmadd52huq vgf2p8mulb vaddph "
     "vmulph vfmadd231ph vmaxph"},
    {"R17, R18",
     "vmovaps vmovups vmovapd vmovupd vmovdqa32 vmovdqa64 vmovdqu32 vmovdqu64 "
     "vsqrtps vrcp14ps vrsqrt14pd vgetexpps vcvtdq2ps vcvtps2dq vcvttps2dq "
     "vcvtudq2ps vcvttps2udq vpabsd vpabsq vmovddup vmovshdup vmovsldup "
     "vcompressps vexpandpd vpcompressd vpexpandq"},
    {"R17, R18",
     "vpopcntb vpopcntw vpopcntd vpopcntq vplzcntd vpconflictq vmovdqu8 "
     "vmovdqu16 vpabsb vpabsw vcvtpd2qq vcvttpd2uqq vcvtqq2pd vcvtuqq2pd "
     "vpcompressb vpexpandw vsqrtph vgetexpph vcvtph2w vcvtw2ph"},
    {"R17, R18, 3",
     "vpshufd vpermilps vprold vprorq vpslld vpsllq vpsrad vpsraq vpsrld "
     "vpsrlq vrndscaleps vgetmantpd vpshufhw vpshuflw vpsllw vpsraw vpsrlw "
     "vpslldq vpsrldq vreduceps vrndscaleph vgetmantph vreduceph"},
    {"R17, R18, R19, 3",
     "vpternlogd vpternlogq valignd valignq vshufps vfixupimmps vpalignr "
     "vdbpsadbw vrangeps vpshldd vpshrdw vgf2p8affineqb"},
    {"k1, R17, R18",
     "vpcmpeqd vpcmpgtq vptestmd vptestnmq vpcmpeqb vpcmpgtw vptestmb "
     "vptestmw vptestnmb vptestnmw vpshufbitqmb"},
    {"k1, R17, R18, 5",
     "vcmpps vcmppd vpcmpd vpcmpuq vpcmpb vpcmpub vpcmpw "
     "vpcmpuw vcmpph"},
    {"k1, R17, 3", "vfpclassps vfpclassph"},
    {"k1, R17", "vpmovb2m vpmovw2m vpmovd2m vpmovq2m"},
    {"R17, k1",
     "vpmovm2b vpmovm2w vpmovm2d vpmovm2q vpbroadcastmb2q "
     "vpbroadcastmw2d"},
    {"R17, xmm18",
     "vbroadcastss vpbroadcastd vpbroadcastq vpbroadcastb "
     "vpbroadcastw vpmovsxbd vpmovzxbq"},
    {"R17, eax", "vpbroadcastd vpbroadcastb vpbroadcastw"},
    {"R17 {k1}, [rax]", "vmovups vmovdqu8 vmovdqu32"},
};

TEST(NeededFeatures, AgreesWithTheGnuAssemblerOnEvex) {
  std::vector<std::string> instructions;
  for (const Form& form : kForms) {
    for (absl::string_view mnemonic :
         absl::StrSplit(form.mnemonics, ' ', absl::SkipWhitespace())) {
      for (const char* registers : {"xmm", "ymm", "zmm"}) {
        instructions.push_back(absl::StrCat(
            mnemonic, " ",
            absl::StrReplaceAll(form.operands, {{"R", registers}})));
      }
    }
  }
  CheckInstructions(instructions);
}

// One of each kind that the table tells apart.
constexpr const char* kInstructions[] = {
    // Every x86-64 has these.
    "add rax, rbx", "addps xmm0, xmm1", "mulsd xmm0, xmm1", "paddd xmm0, xmm1",
    "pshufd xmm0, xmm1, 3", "pextrw eax, xmm0, 1", "cvttps2dq xmm0, xmm1",
    "cmpltps xmm0, xmm1", "punpcklqdq xmm0, xmm1", "movaps xmm8, [rax]",
    "prefetcht0 [rax]", "bsf rax, rbx", "cmovne rax, rbx", "ret",
    // Extensions of SSE.
    "haddps xmm0, xmm1", "addsubps xmm0, xmm1", "movshdup xmm0, xmm1",
    "movddup xmm0, xmm1", "lddqu xmm0, [rax]", "pshufb xmm0, xmm1",
    "pabsd xmm0, xmm1", "palignr xmm0, xmm1, 3", "phaddw xmm0, xmm1",
    "pmaddubsw xmm0, xmm1", "pmulhrsw xmm0, xmm1", "psignd xmm0, xmm1",
    "blendps xmm0, xmm1, 3", "blendvps xmm0, xmm1, xmm0", "dpps xmm0, xmm1, 3",
    "extractps eax, xmm1, 1", "insertps xmm0, xmm1, 3", "packusdw xmm0, xmm1",
    "pblendw xmm0, xmm1, 3", "pblendvb xmm0, xmm1, xmm0", "pcmpeqq xmm0, xmm1",
    "pextrb eax, xmm0, 1", "pextrd eax, xmm0, 1", "pextrq rax, xmm0, 1",
    "pextrw [rax], xmm0, 1", "pinsrb xmm0, eax, 1", "pinsrd xmm0, eax, 1",
    "pinsrq xmm0, rax, 1", "pmaxsb xmm0, xmm1", "pmaxsd xmm0, xmm1",
    "pmaxud xmm0, xmm1", "pmaxuw xmm0, xmm1", "pminsb xmm0, xmm1",
    "pminsd xmm0, xmm1", "pminud xmm0, xmm1", "pminuw xmm0, xmm1",
    "pmovsxbd xmm0, xmm1", "pmovzxwd xmm0, xmm1", "pmuldq xmm0, xmm1",
    "pmulld xmm0, xmm1", "ptest xmm0, xmm1", "roundps xmm0, xmm1, 3",
    "roundss xmm0, xmm1, 3", "movntdqa xmm0, [rax]", "mpsadbw xmm0, xmm1, 3",
    "phminposuw xmm0, xmm1", "pcmpgtq xmm0, xmm1", "crc32 eax, ebx",
    "pcmpistri xmm0, xmm1, 3", "popcnt rax, rbx", "lzcnt rax, rbx",
    "tzcnt rax, rbx", "movbe rax, [rbx]", "gf2p8mulb xmm0, xmm1",
    // General registers, with a VEX prefix.
    "andn rax, rbx, rcx", "bextr rax, rbx, rcx", "blsi rax, rbx",
    "blsmsk rax, rbx", "blsr rax, rbx", "bzhi rax, rbx, rcx",
    "mulx rax, rbx, rcx", "pdep rax, rbx, rcx", "pext rax, rbx, rcx",
    "rorx rax, rbx, 3", "sarx rax, rbx, rcx", "shlx rax, rbx, rcx",
    "shrx rax, rbx, rcx",
    // AVX.
    "vaddps xmm0, xmm1, xmm2", "vaddps ymm0, ymm1, ymm2", "vzeroupper",
    "vmovups ymm0, [rax]", "vpaddd xmm0, xmm1, xmm2", "vpand xmm0, xmm1, xmm2",
    "vpermilps ymm0, ymm1, 3", "vperm2f128 ymm0, ymm1, ymm2, 3",
    "vptest ymm0, ymm1", "vbroadcastss ymm0, [rax]", "vbroadcastss xmm0, [rax]",
    "vbroadcastf128 ymm0, [rax]", "vextractf128 xmm0, ymm1, 1",
    "vinsertf128 ymm0, ymm1, xmm2, 1", "vmaskmovps ymm0, ymm1, [rax]",
    "vandps ymm0, ymm1, ymm2", "vcvtdq2ps ymm0, ymm1", "vlddqu ymm0, [rax]",
    "vmovdqa ymm0, ymm1", "vmovd xmm0, eax", "vroundps ymm0, ymm1, 3",
    "vmovmskps eax, ymm0", "vblendvps ymm0, ymm1, ymm2, ymm3",
    // AVX2.
    "vpaddd ymm0, ymm1, ymm2", "vpand ymm0, ymm1, ymm2", "vpmovmskb eax, ymm0",
    "vpbroadcastd xmm0, xmm1", "vpbroadcastb ymm0, xmm1",
    "vbroadcastss ymm0, xmm1", "vbroadcastsd ymm0, xmm1",
    "vbroadcasti128 ymm0, [rax]", "vpermd ymm0, ymm1, ymm2",
    "vpermps ymm0, ymm1, ymm2", "vpermq ymm0, ymm1, 3", "vpermpd ymm0, ymm1, 3",
    "vpsllvd xmm0, xmm1, xmm2", "vpsrlvq ymm0, ymm1, ymm2",
    "vpsravd xmm0, xmm1, xmm2", "vpmaskmovd xmm0, xmm1, [rax]",
    "vextracti128 xmm0, ymm1, 1", "vinserti128 ymm0, ymm1, xmm2, 1",
    "vperm2i128 ymm0, ymm1, ymm2, 3", "vpblendd xmm0, xmm1, xmm2, 3",
    "vpgatherdd xmm0, [rax + xmm1 * 4], xmm2",
    "vgatherdps ymm0, [rax + ymm1 * 4], ymm2", "vpmovsxbd ymm0, xmm1",
    "vmpsadbw ymm0, ymm1, ymm2, 3", "vmovntdqa ymm0, [rax]",
    "vpshufb ymm0, ymm1, ymm2", "vpslldq ymm0, ymm1, 3",
    "vpblendvb ymm0, ymm1, ymm2, ymm3", "vpalignr ymm0, ymm1, ymm2, 3",
    // Others with a VEX prefix.
    "vfmadd231ps ymm0, ymm1, ymm2", "vfnmsub132sd xmm0, xmm1, xmm2",
    "vcvtph2ps ymm0, xmm1", "vcvtps2ph xmm0, ymm1, 3",
    "{vex} vpdpbusd ymm0, ymm1, ymm2", "{vex} vpdpwssds xmm0, xmm1, xmm2",
    "{vex} vpmadd52luq ymm0, ymm1, ymm2", "vpdpbssd ymm0, ymm1, ymm2",
    "vpdpbuuds xmm0, xmm1, xmm2", "vbcstnebf162ps ymm0, [rax]",
    "vcvtneeph2ps ymm0, [rax]", "{vex} vcvtneps2bf16 xmm0, ymm1",
    "vgf2p8affineqb ymm0, ymm1, ymm2, 3",
    // Masks.
    "kmovw k1, k2", "kmovb k1, k2", "kmovd k1, k2", "kmovq k1, k2",
    "kmovw k1, eax", "kmovd k1, eax", "kandw k1, k2, k3", "kandb k1, k2, k3",
    "korq k1, k2, k3", "kxnord k1, k2, k3", "kaddw k1, k2, k3",
    "kaddb k1, k2, k3", "kaddd k1, k2, k3", "ktestw k1, k2", "ktestb k1, k2",
    "ktestq k1, k2", "kortestw k1, k2", "kortestb k1, k2", "kortestd k1, k2",
    "kshiftlw k1, k2, 3", "kshiftrb k1, k2, 3", "kshiftlq k1, k2, 3",
    "kunpckbw k1, k2, k3", "kunpckwd k1, k2, k3", "kunpckdq k1, k2, k3",
    "knotb k1, k2",
    // One element, or 128 bits only, with an EVEX prefix.
    "vaddss xmm17, xmm18, xmm19", "vmulsd xmm17, xmm18, xmm19",
    "vfmadd231ss xmm17, xmm18, xmm19", "vmovss xmm17, [rax]",
    "vmovd xmm17, eax", "vmovq xmm17, rax", "vcvtsi2ss xmm17, xmm18, eax",
    "vcvttss2si eax, xmm17", "vcvtsd2si rax, xmm17", "vcvtss2usi eax, xmm17",
    "vcvtusi2sd xmm17, xmm18, eax", "vcvtss2sd xmm17, xmm18, xmm19",
    "vcomiss xmm17, xmm18", "vucomisd xmm17, xmm18",
    "vcmpss k1, xmm17, xmm18, 5", "vinsertps xmm17, xmm18, xmm19, 3",
    "vextractps eax, xmm17, 1", "vmovhlps xmm17, xmm18, xmm19",
    "vmovlhps xmm17, xmm18, xmm19", "vmovhps xmm17, xmm18, [rax]",
    "vpextrb eax, xmm17, 1", "vpextrw eax, xmm17, 1", "vpextrd eax, xmm17, 1",
    "vpextrq rax, xmm17, 1", "vpinsrb xmm17, xmm18, eax, 1",
    "vpinsrw xmm17, xmm18, eax, 1", "vpinsrd xmm17, xmm18, eax, 1",
    "vpinsrq xmm17, xmm18, rax, 1", "vfpclassss k1, xmm17, 3",
    "vreducesd xmm17, xmm18, xmm19, 3", "vrangess xmm17, xmm18, xmm19, 3",
    "vrcp14ss xmm17, xmm18, xmm19", "vrndscaless xmm17, xmm18, xmm19, 3",
    "vaddsh xmm1, xmm2, xmm3", "vmovw xmm1, eax", "vmovsh xmm1, [rax]",
    "vcomish xmm1, xmm2", "vcvtsi2sh xmm1, xmm2, eax",
    "vcmpsh k1, xmm1, xmm2, 5", "vcvttsh2si eax, xmm1",
    // Widths that change within one instruction, and rounding modes.
    "vcvtps2pd zmm1, ymm2", "vcvtps2pd ymm17, xmm18", "vcvtpd2ps ymm1, zmm2",
    "vcvtps2qq zmm1, ymm2", "vcvtph2ps zmm1, ymm2", "vcvtph2ps ymm17, xmm18",
    "vcvtps2ph ymm1, zmm2, 3", "vcvtps2ph xmm17, ymm18, 3",
    "vcvtneps2bf16 ymm1, zmm2", "vcvtneps2bf16 xmm17, ymm18",
    "vcvtps2phx ymm1, zmm2", "vcvtph2psx zmm1, ymm2", "vpmovdb xmm1, zmm2",
    "vpmovsdw ymm1, zmm2", "vpmovwb ymm1, zmm2", "vpmovswb xmm17, ymm18",
    "vpmovuswb ymm1, zmm2", "vpmovsxbw zmm1, ymm2", "vpmovzxbw ymm17, xmm18",
    "vpmovsxwd zmm1, ymm2", "vaddps zmm1, zmm2, zmm3, {rn-sae}",
    "vcvttps2dq zmm1, zmm2, {sae}", "vaddps zmm1, zmm2, dword ptr [rax]{1to16}",
    "vaddps ymm17, ymm2, dword ptr [rax]{1to8}", "vextractf32x4 xmm1, zmm2, 1",
    "vextractf64x4 ymm1, zmm2, 1", "vextractf32x8 ymm1, zmm2, 1",
    "vextractf64x2 xmm1, zmm2, 1", "vextracti32x4 xmm17, ymm18, 1",
    "vextracti64x2 xmm17, ymm18, 1", "vinsertf32x4 zmm1, zmm2, xmm3, 1",
    "vinserti64x4 zmm1, zmm2, ymm3, 1", "vinsertf32x8 zmm1, zmm2, ymm3, 1",
    "vinserti64x2 zmm1, zmm2, xmm3, 1", "vbroadcastf32x4 zmm1, [rax]",
    "vbroadcastf64x4 zmm1, [rax]", "vbroadcastf32x8 zmm1, [rax]",
    "vbroadcastf64x2 zmm1, [rax]", "vbroadcastf32x2 zmm1, xmm2",
    "vbroadcasti32x2 xmm17, xmm18", "vbroadcastsd zmm1, xmm2",
    "vbroadcastsd ymm17, xmm18", "vshuff32x4 zmm1, zmm2, zmm3, 3",
    "vshufi64x2 ymm17, ymm18, ymm19, 3", "vpermps zmm1, zmm2, zmm3",
    "vpermq zmm1, zmm2, 3", "vgatherdps zmm1 {k1}, [rax + zmm2 * 4]",
    "vpscatterdd [rax + zmm2 * 4] {k1}, zmm1",
    "vpscatterqq [rax + ymm2 * 4] {k1}, ymm1", "vmovntps [rax], zmm1",
    "vmovntdqa zmm1, [rax]",
    // Tiles.
    "ldtilecfg [rax]", "sttilecfg [rax]", "tileloadd tmm1, [rax + rbx]",
    "tilestored [rax + rbx], tmm1", "tilezero tmm1", "tilerelease",
    "tdpbssd tmm1, tmm2, tmm3", "tdpbusd tmm1, tmm2, tmm3",
    "tdpbf16ps tmm1, tmm2, tmm3", "tdpfp16ps tmm1, tmm2, tmm3"};

TEST(NeededFeatures, AgreesWithTheGnuAssemblerOnTheRest) {
  CheckInstructions({std::begin(kInstructions), std::end(kInstructions)});
}

std::string Assemble(const std::string& source) {
  std::string object;
  EXPECT_THAT(
      RefusedLines(absl::StrCat(kIntel, source), AssemblerFeatures(), &object),
      IsEmpty());
  return object;
}

TEST(NeededFeatures, AreThoseOfAllInstructions) {
  const std::string object = Assemble(
      "f: vaddps ymm0, ymm1, ymm2\n vfmadd231ps ymm0, ymm1, ymm2\n ret\n"
      ".section .text.g,\"ax\"\n g: popcnt rax, rbx\n ret\n"
      ".section .rodata\n .byte 0xc4, 0xe2, 0x7b, 0x5e, 0xca\n");
  const auto needed =
      NeededFeatures(object, "x86_64-linux-gnu", AssemblerFeatures());
  ASSERT_TRUE(needed.ok()) << needed.status();
  EXPECT_THAT(*needed, ElementsAre("avx", "fma", "popcnt"));
}

TEST(NeededFeatures, OnlyWhatTheCompilerCouldUse) {
  // Older processors run `rep bsf`, which is the same bytes.
  const std::string object = Assemble("f: tzcnt rax, rbx\n ret\n");
  const auto needed =
      NeededFeatures(object, "x86_64-linux-gnu", {"avx", "avx2"});
  ASSERT_TRUE(needed.ok()) << needed.status();
  EXPECT_THAT(*needed, IsEmpty());
}

TEST(NeededFeatures, WhatIsNoInstructionNeedsEverything) {
  const std::string object = Assemble("f: .byte 0x06, 0x06\n ret\n");
  const auto needed =
      NeededFeatures(object, "x86_64-linux-gnu", {"avx", "fma"});
  ASSERT_TRUE(needed.ok()) << needed.status();
  EXPECT_THAT(*needed, ElementsAre("avx", "fma"));
}

TEST(NeededFeatures, RefusesWhatIsNoObject) {
  for (const std::string& bytes :
       {std::string(),
        std::string("\x7f"
                    "ELF"),
        std::string(200, '\x7f'), Assemble("ret").substr(0, 100)}) {
    EXPECT_EQ(NeededFeatures(bytes, "x86_64-linux-gnu", {}).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(NeededFeatures(Assemble("ret"), "zork", {}).status().code(),
            absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace ingot::isa
