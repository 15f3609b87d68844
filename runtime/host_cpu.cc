#include "runtime/host_cpu.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

#if defined(__x86_64__)
#include <cpuid.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace ingot {
namespace {

#if defined(__x86_64__)

struct Registers {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers Cpuid(uint32_t leaf, uint32_t subleaf = 0) {
  Registers r;
  __cpuid_count(leaf, subleaf, r.eax, r.ebx, r.ecx, r.edx);
  return r;
}

// The states that the system saves: only valid where cpuid says OSXSAVE.
uint64_t ReadXcr0() {
  uint32_t low;
  uint32_t high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<uint64_t>(high) << 32) | low;
}

// The registers that the system must save for a feature to be usable.
enum State { kNone, kXsave, kAvx, kAvx512, kAmx, kApx };

using Register = uint32_t Registers::*;

struct Feature {
  const char* name;
  Register reg;
  int bit;
  State state;
};

constexpr Register kA = &Registers::eax;
constexpr Register kB = &Registers::ebx;
constexpr Register kC = &Registers::ecx;
constexpr Register kD = &Registers::edx;

constexpr Feature kLeaf1[] = {
    {"cx8", kD, 8, kNone},     {"cmov", kD, 15, kNone},
    {"mmx", kD, 23, kNone},    {"fxsr", kD, 24, kNone},
    {"sse", kD, 25, kNone},    {"sse2", kD, 26, kNone},
    {"sse3", kC, 0, kNone},    {"pclmul", kC, 1, kNone},
    {"ssse3", kC, 9, kNone},   {"fma", kC, 12, kAvx},
    {"cx16", kC, 13, kNone},   {"sse4.1", kC, 19, kNone},
    {"sse4.2", kC, 20, kNone}, {"crc32", kC, 20, kNone},
    {"movbe", kC, 22, kNone},  {"popcnt", kC, 23, kNone},
    {"aes", kC, 25, kNone},    {"xsave", kC, 26, kXsave},
    {"avx", kC, 28, kAvx},     {"f16c", kC, 29, kAvx},
    {"rdrnd", kC, 30, kNone},
};

constexpr Feature kLeaf7[] = {
    {"fsgsbase", kB, 0, kNone},
    {"sgx", kB, 2, kNone},
    {"bmi", kB, 3, kNone},
    {"avx2", kB, 5, kAvx},
    {"bmi2", kB, 8, kNone},
    {"invpcid", kB, 10, kNone},
    {"rtm", kB, 11, kNone},
    {"avx512f", kB, 16, kAvx512},
    {"evex512", kB, 16, kAvx512},
    {"avx512dq", kB, 17, kAvx512},
    {"rdseed", kB, 18, kNone},
    {"adx", kB, 19, kNone},
    {"avx512ifma", kB, 21, kAvx512},
    {"clflushopt", kB, 23, kNone},
    {"clwb", kB, 24, kNone},
    {"avx512cd", kB, 28, kAvx512},
    {"sha", kB, 29, kNone},
    {"avx512bw", kB, 30, kAvx512},
    {"avx512vl", kB, 31, kAvx512},
    {"avx512vbmi", kC, 1, kAvx512},
    {"pku", kC, 4, kNone},
    {"waitpkg", kC, 5, kNone},
    {"avx512vbmi2", kC, 6, kAvx512},
    {"shstk", kC, 7, kNone},
    {"gfni", kC, 8, kNone},
    {"vaes", kC, 9, kAvx},
    {"vpclmulqdq", kC, 10, kAvx},
    {"avx512vnni", kC, 11, kAvx512},
    {"avx512bitalg", kC, 12, kAvx512},
    {"avx512vpopcntdq", kC, 14, kAvx512},
    {"rdpid", kC, 22, kNone},
    {"kl", kC, 23, kNone},
    {"cldemote", kC, 25, kNone},
    {"movdiri", kC, 27, kNone},
    {"movdir64b", kC, 28, kNone},
    {"enqcmd", kC, 29, kNone},
    {"uintr", kD, 5, kNone},
    {"avx512vp2intersect", kD, 8, kAvx512},
    {"serialize", kD, 14, kNone},
    {"tsxldtrk", kD, 16, kNone},
    {"pconfig", kD, 18, kNone},
    {"amx-bf16", kD, 22, kAmx},
    {"avx512fp16", kD, 23, kAvx512},
    {"amx-tile", kD, 24, kAmx},
    {"amx-int8", kD, 25, kAmx},
};

constexpr Feature kLeaf7Sub1[] = {
    {"sha512", kA, 0, kAvx},       {"sm3", kA, 1, kAvx},
    {"sm4", kA, 2, kAvx},          {"raoint", kA, 3, kNone},
    {"avxvnni", kA, 4, kAvx},      {"avx512bf16", kA, 5, kAvx512},
    {"cmpccxadd", kA, 7, kNone},   {"amx-fp16", kA, 21, kAmx},
    {"hreset", kA, 22, kNone},     {"avxifma", kA, 23, kAvx},
    {"avxvnniint8", kD, 4, kAvx},  {"avxneconvert", kD, 5, kAvx},
    {"amx-complex", kD, 8, kAmx},  {"avxvnniint16", kD, 10, kAvx},
    {"prefetchi", kD, 14, kNone},  {"usermsr", kD, 15, kNone},
    {"avx10.1-256", kD, 19, kAvx}, {"egpr", kD, 21, kApx},
    {"push2pop2", kD, 21, kApx},   {"ppx", kD, 21, kApx},
    {"ndd", kD, 21, kApx},         {"ccmp", kD, 21, kApx},
    {"cf", kD, 21, kApx},          {"nf", kD, 21, kApx},
    {"zu", kD, 21, kApx},
};

constexpr Feature kLeaf0dSub1[] = {
    {"xsaveopt", kA, 0, kXsave},
    {"xsavec", kA, 1, kXsave},
    {"xsaves", kA, 3, kXsave},
};

constexpr Feature kLeaf14[] = {{"ptwrite", kB, 4, kNone}};

constexpr Feature kLeaf19[] = {{"widekl", kB, 2, kNone}};
constexpr Feature kLeaf24[] = {{"avx10.1-512", kB, 18, kAvx512}};

constexpr Feature kExtended1[] = {
    {"sahf", kC, 0, kNone},    {"lzcnt", kC, 5, kNone},
    {"sse4a", kC, 6, kNone},   {"prfchw", kC, 8, kNone},
    {"xop", kC, 11, kAvx},     {"lwp", kC, 15, kNone},
    {"fma4", kC, 16, kAvx},    {"tbm", kC, 21, kNone},
    {"mwaitx", kC, 29, kNone}, {"64bit", kD, 29, kNone},
};

constexpr Feature kExtended8[] = {
    {"clzero", kB, 0, kNone},
    {"rdpru", kB, 4, kNone},
    {"wbnoinvd", kB, 9, kNone},
};

struct Leaf {
  uint32_t leaf, subleaf;
  absl::Span<const Feature> features;
};

constexpr uint32_t kExtended = 0x80000000u;

const Leaf kLeaves[] = {
    {1, 0, kLeaf1},
    {7, 0, kLeaf7},
    {7, 1, kLeaf7Sub1},
    {0xd, 1, kLeaf0dSub1},
    {0x14, 0, kLeaf14},
    {0x19, 0, kLeaf19},
    {0x24, 0, kLeaf24},
    {kExtended + 1, 0, kExtended1},
    {kExtended + 8, 0, kExtended8},
};

// Asks the processor for no more than it has to tell: in a virtual machine each
// question takes some microseconds. Thread-safe.
class Asker {
 public:
  bool Has(absl::string_view name) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const Leaf& leaf : kLeaves) {
      for (const Feature& feature : leaf.features) {
        if (name == feature.name) return Has(leaf, feature);
      }
    }
    return false;
  }

 private:
  bool Has(const Leaf& leaf, const Feature& feature) {
    return IsThere(leaf) && Saves(feature.state) &&
           (Ask(leaf.leaf, leaf.subleaf).*feature.reg >> feature.bit & 1) != 0;
  }

  // Whether the processor has a leaf, and with it what says that it counts.
  bool IsThere(const Leaf& leaf) {
    const uint32_t first = leaf.leaf & kExtended;
    if (Ask(first).eax < leaf.leaf) return false;
    if (leaf.subleaf == 1 && leaf.leaf == 7) return Ask(7).eax >= 1;
    if (leaf.leaf == 0x19) return (Ask(7).ecx >> 23 & 1) != 0;  // kl
    if (leaf.leaf == 0x24) {
      return IsThere({7, 1, {}}) && Saves(kAvx) &&
             (Ask(7, 1).edx >> 19 & 1) != 0;  // avx10.1-256
    }
    return true;
  }

  bool Saves(State state) {
    if (state == kNone) return true;
    if ((Ask(1).ecx >> 27 & 1) == 0) return false;  // OSXSAVE
    const uint64_t xcr0 = ReadXcr0();
    const bool avx = (Ask(1).ecx >> 28 & 1) != 0 && (xcr0 & 0x6) == 0x6;
    switch (state) {
      case kNone:
      case kXsave:
        return true;
      case kAvx:
        return avx;
      case kAvx512:
        return avx && (xcr0 & 0xe0) == 0xe0;
      case kAmx:
        return (xcr0 & 0x60000) == 0x60000;
      case kApx:
        return (xcr0 >> 19 & 1) != 0;
    }
    return false;
  }

  const Registers& Ask(uint32_t leaf, uint32_t subleaf = 0) {
    const auto [place, is_new] = told_.try_emplace({leaf, subleaf});
    if (is_new) place->second = Cpuid(leaf, subleaf);
    return place->second;
  }

  std::mutex mutex_;
  std::map<std::pair<uint32_t, uint32_t>, Registers> told_;
};

bool HasFeature(absl::string_view name) {
  static auto* const asker = new Asker;
  return asker->Has(name);
}

std::set<std::string> FindFeatures() {
  std::set<std::string> found;
  for (const Leaf& leaf : kLeaves) {
    for (const Feature& feature : leaf.features) {
      if (HasFeature(feature.name)) found.insert(feature.name);
    }
  }
  return found;
}

#elif defined(__aarch64__) && defined(__linux__)

// The kernel's numbers of these bits are part of its ABI; older headers lack
// some of the names.
struct Feature {
  const char* name;
  unsigned long type;
  int bit;
};

constexpr unsigned long kHwcap = 16;
constexpr unsigned long kHwcap2 = 26;

constexpr Feature kFeatures[] = {
    {"fp-armv8", kHwcap, 0}, {"neon", kHwcap, 1},
    {"aes", kHwcap, 3},      {"sha2", kHwcap, 6},
    {"crc", kHwcap, 7},      {"lse", kHwcap, 8},
    {"fullfp16", kHwcap, 9}, {"rdm", kHwcap, 12},
    {"jsconv", kHwcap, 13},  {"complxnum", kHwcap, 14},
    {"rcpc", kHwcap, 15},    {"sha3", kHwcap, 17},
    {"sm4", kHwcap, 19},     {"dotprod", kHwcap, 20},
    {"sve", kHwcap, 22},     {"fp16fml", kHwcap, 23},
    {"sve2", kHwcap2, 1},    {"sve2-aes", kHwcap2, 2},
    {"i8mm", kHwcap2, 13},   {"bf16", kHwcap2, 14},
    {"sme", kHwcap2, 23},
};

bool IsThere(const Feature& feature) {
  return (getauxval(feature.type) >> feature.bit & 1) != 0;
}

bool HasFeature(absl::string_view name) {
  return std::any_of(
      std::begin(kFeatures), std::end(kFeatures),
      [name](const Feature& f) { return name == f.name && IsThere(f); });
}

std::set<std::string> FindFeatures() {
  std::set<std::string> found;
  for (const Feature& f : kFeatures) {
    if (IsThere(f)) found.insert(f.name);
  }
  return found;
}

#else

bool HasFeature(absl::string_view) { return false; }

std::set<std::string> FindFeatures() { return {}; }

#endif

// Linux gives the large tile registers only to processes that ask.
bool AskForAmx() {
#if defined(__x86_64__) && defined(__linux__)
  constexpr int kArchReqXcompPerm = 0x1023;
  constexpr int kXfeatureXtiledata = 18;
  return syscall(SYS_arch_prctl, kArchReqXcompPerm, kXfeatureXtiledata) == 0;
#else
  return true;
#endif
}

}  // namespace

const std::set<std::string>& HostCpuFeatures() {
  static const auto* features = new std::set<std::string>(FindFeatures());
  return *features;
}

absl::Status CheckCpuFeatures(absl::Span<const std::string> needed) {
  std::set<std::string> missing;
  bool amx = false;
  for (const std::string& feature : needed) {
    const absl::string_view name = absl::StripPrefix(feature, "+");
    if (!HasFeature(name)) {
      missing.insert(std::string(name));
    } else if (absl::StartsWith(name, "amx-")) {
      amx = true;
    }
  }
  if (!missing.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "this CPU (or its operating system) lacks ",
        absl::StrJoin(missing, ", "), ", which the code was compiled for"));
  }
  if (amx && !AskForAmx()) {
    return absl::FailedPreconditionError(
        "the operating system did not permit this process to use AMX, which "
        "the code was compiled for");
  }
  return absl::OkStatus();
}

}  // namespace ingot
