#include "isa/testing/emulate_amx.h"

#if defined(__x86_64__) && defined(__linux__)

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace ingot::isa {
namespace {

constexpr int kTiles = 8, kRows = 16, kRowBytes = 64;
constexpr long kRequestPermission = 0x1023, kTileData = 18;

struct Tile {
  int rows = 0, row_bytes = 0;
  uint8_t data[kRows][kRowBytes] = {};
};

struct Tiles {
  bool configured = false;
  Tile tile[kTiles];
};

// A thread's registers.
thread_local Tiles tiles;

[[noreturn]] void Refuse(const char* why) {
  constexpr char kIntro[] = "emulated AMX: ";
  for (const char* text : {kIntro, why, "\n"}) {
    if (write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
  }
  std::abort();
}

// The order in which instructions number registers, as places in a context.
constexpr int kRegisters[] = {
    REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

enum Prefix { kNone = 0, k66 = 1, kF3 = 2, kF2 = 3 };

// An instruction with a VEX prefix of three bytes, in the opcode map 0F38.
class Instruction {
 public:
  // False if the bytes at the context's instruction pointer are another.
  bool Read(const ucontext_t& context) {
    registers_ = context.uc_mcontext.gregs;
    const auto* at = reinterpret_cast<const uint8_t*>(registers_[REG_RIP]);
    constexpr int kVex = 0xC4, kMap = 2, kWideOrLong = 0x84;
    if (at[0] != kVex || (at[1] & 0x1F) != kMap || (at[2] & kWideOrLong) != 0) {
      return false;
    }
    const int r = (~at[1] >> 7 & 1) << 3, x = (~at[1] >> 6 & 1) << 3,
              b = (~at[1] >> 5 & 1) << 3;
    third = ~at[2] >> 3 & 15;
    prefix = static_cast<Prefix>(at[2] & 3);
    opcode = at[3];
    const uint8_t modrm = at[4];
    const int mod = modrm >> 6;
    reg = r | (modrm >> 3 & 7);
    rm = b | (modrm & 7);
    is_memory = mod != 3;
    at += 5;
    if (is_memory) at = ReadAddress(at, mod, x, b);
    next = reinterpret_cast<greg_t>(at);
    if (from_next_) base += static_cast<uintptr_t>(next);
    return true;
  }

  Prefix prefix = kNone;
  int opcode = 0, reg = 0, rm = 0, third = 0;
  bool is_memory = false;
  uintptr_t base = 0;  // with the displacement
  int64_t stride = 0;  // the scaled index
  greg_t next = 0;     // where the next instruction is

 private:
  uintptr_t Register(int number) const {
    return static_cast<uintptr_t>(registers_[kRegisters[number]]);
  }

  const uint8_t* ReadAddress(const uint8_t* at, int mod, int x, int b) {
    constexpr int kSib = 4, kNoBase = 5, kNoIndex = 4;
    const int low = rm & 7;
    bool wide = mod == 2;
    if (low == kSib) {
      const uint8_t sib = *at++;
      const int index = x | (sib >> 3 & 7);
      if (index != kNoIndex) {
        stride = static_cast<int64_t>(Register(index)) << (sib >> 6);
      }
      if (mod == 0 && (sib & 7) == kNoBase) {
        wide = true;
      } else {
        base = Register(b | (sib & 7));
      }
    } else if (mod == 0 && low == kNoBase) {
      wide = from_next_ = true;
    } else {
      base = Register(rm);
    }
    if (wide) {
      int32_t displacement;
      std::memcpy(&displacement, at, sizeof displacement);
      base += static_cast<intptr_t>(displacement);
      return at + sizeof displacement;
    }
    if (mod == 1) base += static_cast<int8_t>(*at++);
    return at;
  }

  const greg_t* registers_ = nullptr;
  bool from_next_ = false;
};

Tile& TileOf(int number) {
  if (!tiles.configured) Refuse("tiles are used that were not configured");
  if (number >= kTiles) Refuse("there are eight tiles");
  if (tiles.tile[number].rows == 0) Refuse("a tile has no rows");
  return tiles.tile[number];
}

void Configure(const uint8_t* bytes) {
  tiles = Tiles();
  if (bytes[0] == 0) return;
  if (bytes[0] != 1 || bytes[1] != 0) Refuse("only palette 1 from row 0 on");
  for (int t = 0; t < kTiles; ++t) {
    uint16_t row_bytes;
    std::memcpy(&row_bytes, bytes + 16 + 2 * t, sizeof row_bytes);
    const int rows = bytes[48 + t];
    if (rows > kRows || row_bytes > kRowBytes ||
        (rows == 0) != (row_bytes == 0)) {
      Refuse("a tile is larger than 16 rows of 64 bytes");
    }
    tiles.tile[t].rows = rows;
    tiles.tile[t].row_bytes = row_bytes;
  }
  tiles.configured = true;
}

void StoreConfiguration(uint8_t* bytes) {
  std::memset(bytes, 0, 64);
  if (!tiles.configured) return;
  bytes[0] = 1;
  for (int t = 0; t < kTiles; ++t) {
    const auto row_bytes = static_cast<uint16_t>(tiles.tile[t].row_bytes);
    std::memcpy(bytes + 16 + 2 * t, &row_bytes, sizeof row_bytes);
    bytes[48 + t] = static_cast<uint8_t>(tiles.tile[t].rows);
  }
}

void Load(const Instruction& i) {
  Tile& tile = TileOf(i.reg);
  std::memset(tile.data, 0, sizeof tile.data);
  for (int row = 0; row < tile.rows; ++row) {
    std::memcpy(tile.data[row],
                reinterpret_cast<const void*>(i.base + row * i.stride),
                tile.row_bytes);
  }
}

void Store(const Instruction& i) {
  const Tile& tile = TileOf(i.reg);
  for (int row = 0; row < tile.rows; ++row) {
    std::memcpy(reinterpret_cast<void*>(i.base + row * i.stride),
                tile.data[row], tile.row_bytes);
  }
}

float FloatOfBf16(const uint8_t* at) {
  uint16_t half;
  std::memcpy(&half, at, sizeof half);
  const uint32_t bits = static_cast<uint32_t>(half) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// The first and second of each pair are summed by themselves, from 0 on.
void MultiplyBf16(const Tile& a, const Tile& b, Tile* sums) {
  for (int m = 0; m < sums->rows; ++m) {
    for (int n = 0; n < sums->row_bytes / 4; ++n) {
      float part[2] = {0, 0};
      for (int k = 0; k < b.rows; ++k) {
        for (int j = 0; j < 2; ++j) {
          part[j] =
              __builtin_fmaf(FloatOfBf16(&a.data[m][4 * k + 2 * j]),
                             FloatOfBf16(&b.data[k][4 * n + 2 * j]), part[j]);
        }
      }
      float sum;
      std::memcpy(&sum, &sums->data[m][4 * n], sizeof sum);
      sum += part[0] + part[1];
      std::memcpy(&sums->data[m][4 * n], &sum, sizeof sum);
    }
  }
}

int64_t Byte(uint8_t value, bool is_signed) {
  return is_signed ? static_cast<int8_t>(value) : value;
}

void MultiplyBytes(const Tile& a, bool a_signed, const Tile& b, bool b_signed,
                   Tile* sums) {
  for (int m = 0; m < sums->rows; ++m) {
    for (int n = 0; n < sums->row_bytes / 4; ++n) {
      int32_t sum;
      std::memcpy(&sum, &sums->data[m][4 * n], sizeof sum);
      int64_t total = sum;
      for (int k = 0; k < b.rows; ++k) {
        for (int j = 0; j < 4; ++j) {
          total += Byte(a.data[m][4 * k + j], a_signed) *
                   Byte(b.data[k][4 * n + j], b_signed);
        }
      }
      sum = static_cast<int32_t>(static_cast<uint32_t>(total));
      std::memcpy(&sums->data[m][4 * n], &sum, sizeof sum);
    }
  }
}

void Multiply(const Instruction& i) {
  constexpr int kOfBf16 = 0x5C;
  Tile& sums = TileOf(i.reg);
  const Tile &a = TileOf(i.rm), &b = TileOf(i.third);
  if (i.reg == i.rm || i.reg == i.third || i.rm == i.third) {
    Refuse("a product's three tiles are not different ones");
  }
  if (a.rows != sums.rows || b.row_bytes != sums.row_bytes ||
      a.row_bytes != 4 * b.rows || sums.row_bytes % 4 != 0) {
    Refuse("a product's tiles do not fit");
  }
  if (i.opcode == kOfBf16) {
    MultiplyBf16(a, b, &sums);
  } else {
    MultiplyBytes(a, i.prefix == kF2 || i.prefix == kF3, b,
                  i.prefix == kF2 || i.prefix == k66, &sums);
  }
}

// False for an instruction of another kind.
bool Run(const Instruction& i) {
  constexpr int kConfiguration = 0x49, kMove = 0x4B, kBf16 = 0x5C,
                kBytes = 0x5E;
  if (i.opcode == kConfiguration && i.is_memory && i.reg == 0) {
    if (i.prefix == kNone) {
      Configure(reinterpret_cast<const uint8_t*>(i.base));
    } else if (i.prefix == k66) {
      StoreConfiguration(reinterpret_cast<uint8_t*>(i.base));
    } else {
      return false;
    }
  } else if (i.opcode == kConfiguration && i.prefix == kNone) {
    tiles = Tiles();
  } else if (i.opcode == kConfiguration && i.prefix == kF2) {
    Tile& tile = TileOf(i.reg);
    std::memset(tile.data, 0, sizeof tile.data);
  } else if (i.opcode == kMove && i.is_memory && i.prefix != kNone) {
    i.prefix == kF3 ? Store(i) : Load(i);
  } else if (!i.is_memory &&
             ((i.opcode == kBf16 && i.prefix == kF3) || i.opcode == kBytes)) {
    Multiply(i);
  } else {
    return false;
  }
  return true;
}

void OnIllegalInstruction(int, siginfo_t*, void* context) {
  auto* c = static_cast<ucontext_t*>(context);
  Instruction instruction;
  if (!instruction.Read(*c) || !Run(instruction)) {
    // The instruction comes again, and ends the process.
    signal(SIGILL, SIG_DFL);
    return;
  }
  c->uc_mcontext.gregs[REG_RIP] = instruction.next;
}

// Answers the one system call that the filter sends here.
void OnSystemCall(int, siginfo_t*, void* context) {
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RAX] = 0;
}

absl::Status Handle(int signal, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  return sigaction(signal, &action, nullptr) == 0
             ? absl::OkStatus()
             : absl::FailedPreconditionError("there is no signal handler");
}

// Sends who asks for the tiles to the handler of SIGSYS.
absl::Status FilterSystemCalls() {
  constexpr auto kWord = BPF_LD | BPF_W | BPF_ABS;
  constexpr auto kIfEqual = BPF_JMP | BPF_JEQ | BPF_K;
  sock_filter program[] = {
      BPF_STMT(kWord, offsetof(seccomp_data, arch)),
      BPF_JUMP(kIfEqual, AUDIT_ARCH_X86_64, 0, 5),
      BPF_STMT(kWord, offsetof(seccomp_data, nr)),
      BPF_JUMP(kIfEqual, SYS_arch_prctl, 0, 3),
      BPF_STMT(kWord, offsetof(seccomp_data, args)),
      BPF_JUMP(kIfEqual, kRequestPermission, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter = {sizeof program / sizeof program[0], program};
  // Threads that there are already get it, too.
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
              &filter) != 0) {
    return absl::FailedPreconditionError(
        "Linux installs no filter of system calls");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status EmulateAmx() {
  if (syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0) {
    return absl::OkStatus();
  }
  absl::Status status = Handle(SIGSYS, OnSystemCall);
  if (status.ok()) status = Handle(SIGILL, OnIllegalInstruction);
  if (status.ok()) status = FilterSystemCalls();
  return status;
}

}  // namespace ingot::isa

#else

namespace ingot::isa {

absl::Status EmulateAmx() {
  return absl::FailedPreconditionError("this is no x86-64 of Linux");
}

}  // namespace ingot::isa

#endif
