#include "isa/testing/ptx/machine.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "isa/testing/ptx/module.h"
#include "isa/testing/ptx/warp.h"

namespace ingot::isa::ptx {
namespace {

constexpr size_t kAlignment = 64;

// After so many rounds without a move no thread is expected to go on. They may
// count how often they tried.
constexpr int kPatience = 100;

// Runs a warp's threads to the next barrier, to where all that can go on have
// tried an mbarrier in vain, or to their end.
class Runner {
 public:
  Runner(Warp* warp, const Kernel& kernel) : w_(*warp), code_(kernel.code) {}

  bool Run() {
    w_.trying = 0;
    for (;;) {
      const uint32_t ready = w_.live & ~w_.held & ~w_.trying;
      if (ready == 0) {
        if (w_.held == 0 || w_.trying != 0) return true;
        if (!RunHeld()) return false;
        if (w_.is_at_barrier) return true;
        continue;
      }
      if (!RunFirst(ready)) return false;
      if (w_.is_at_barrier) return true;
    }
  }

 private:
  // Runs those of the ready threads that are at the smallest address, until
  // they part or come to where others are.
  bool RunFirst(uint32_t ready) {
    uint32_t at = ~uint32_t{0};
    for (int lane = 0; lane < kLanes; ++lane) {
      if ((ready >> lane & 1) != 0) at = std::min(at, w_.pc[lane]);
    }
    uint32_t others = ~uint32_t{0};  // where the next of them are
    threads_ = 0;
    for (int lane = 0; lane < kLanes; ++lane) {
      if ((ready >> lane & 1) == 0) continue;
      if (w_.pc[lane] == at) {
        threads_ |= uint32_t{1} << lane;
      } else {
        others = std::min(others, w_.pc[lane]);
      }
    }
    do {
      if (!Step(&at)) return false;
    } while (threads_ != 0 && at < others);
    SetAddress(threads_, at);
    return true;
  }

  // Does the instruction at `at` for `threads_`, which become 0 where they are
  // no longer together.
  bool Step(uint32_t* at) {
    if (*at >= code_.size()) {
      w_.live &= ~threads_;
      threads_ = 0;
      return true;
    }
    const Instruction& i = code_[*at];
    w_.active = threads_;
    if (i.guard >= 0) {
      const uint32_t guard =
          *w_.Lanes<uint32_t>(static_cast<uint32_t>(i.guard));
      w_.active &= i.is_guard_negated ? ~guard : guard;
    }
    switch (i.form.control) {
      case Control::kNext:
        if (w_.active != 0 && !i.form.run(w_, i)) return false;
        ++*at;
        return true;
      case Control::kBranch:
        Branch(i, at);
        return true;
      case Control::kEnd:
        w_.live &= ~w_.active;
        threads_ &= ~w_.active;
        ++*at;
        return true;
      case Control::kTry:
        if (w_.active != 0 && !i.form.run(w_, i)) return false;
        ++*at;
        if ((w_.trying & threads_) != 0) {
          SetAddress(threads_, *at);
          threads_ = 0;
        }
        return true;
      case Control::kTogether:
      case Control::kBarrier:
        return Meet(i, at);
    }
    return true;
  }

  void Branch(const Instruction& i, uint32_t* at) {
    const uint32_t others = threads_ & ~w_.active;
    if (w_.active == 0) {
      ++*at;
    } else if (others == 0) {
      *at = i.target;
    } else {
      SetAddress(w_.active, i.target);
      SetAddress(others, *at + 1);
      threads_ = 0;
    }
  }

  // An instruction that the whole warp does: those who come wait for the rest.
  bool Meet(const Instruction& i, uint32_t* at) {
    if (w_.active == 0) {
      ++*at;
      return true;
    }
    if (w_.active != threads_) {
      return w_.Fail(i, kIllegalInstruction,
                     "its predicate is not that of the whole warp");
    }
    if (threads_ != w_.all) {
      SetAddress(threads_, *at);
      w_.held |= threads_;
      threads_ = 0;
      return true;
    }
    if (!i.form.run(w_, i)) return false;
    ++*at;
    if (i.form.control == Control::kBarrier) {
      SetAddress(threads_, *at);
      w_.is_at_barrier = true;
      threads_ = 0;
    }
    return true;
  }

  // Nobody can go on but those who wait for the rest of the warp.
  bool RunHeld() {
    const uint32_t first = w_.pc[__builtin_ctz(w_.held)];
    const Instruction& i = code_[first];
    for (int lane = 0; lane < kLanes; ++lane) {
      if ((w_.held >> lane & 1) == 0 || w_.pc[lane] == first) continue;
      return w_.Fail(i, kIllegalInstruction,
                     "threads of the warp wait at line " +
                         std::to_string(code_[w_.pc[lane]].line) + ", too");
    }
    if (w_.held != w_.all) {
      return w_.Fail(i, kIllegalInstruction,
                     "threads of the warp ended without it");
    }
    threads_ = w_.held;
    w_.held = 0;
    uint32_t at = first;
    if (!Step(&at)) return false;
    SetAddress(threads_, at);
    return true;
  }

  void SetAddress(uint32_t threads, uint32_t at) {
    for (int lane = 0; lane < kLanes; ++lane) {
      if ((threads >> lane & 1) != 0) w_.pc[lane] = at;
    }
  }

  Warp& w_;
  const std::vector<Instruction>& code_;
  uint32_t threads_ = 0;  // that are together
};

uint8_t* Aligned(std::vector<uint8_t>* storage) {
  const auto address = reinterpret_cast<uintptr_t>(storage->data());
  return storage->data() + (kAlignment - address % kAlignment) % kAlignment;
}

// Sets a register of 32 bits, where the kernel has it.
template <typename ValueOf>
void SetSpecial(const Kernel& kernel, const char* name, Warp* warp,
                const ValueOf& value_of) {
  const auto found = kernel.specials.find(name);
  if (found == kernel.specials.end()) return;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    warp->Lanes<uint32_t>(found->second)[lane] = value_of(lane);
  }
}

class Grid {
 public:
  Grid(const Module& module, const Kernel& kernel, const Launch& launch)
      : kernel_(kernel), launch_(launch) {
    block_.kernel = &kernel;
    block_.memory = launch.memory;
    for (const auto& [name, array] : module.arrays) {
      block_.memory.push_back({array.begin, array.bytes});
    }
    block_.last_range.resize(kernel.code.size(), ~uint32_t{0});
    block_.parameters.resize(kernel.parameter_bytes);
    for (size_t k = 0; k < kernel.parameters.size(); ++k) {
      const Parameter& parameter = kernel.parameters[k];
      std::memcpy(block_.parameters.data() + parameter.offset,
                  launch.parameters[k], parameter.bytes);
    }
    warps_.resize((launch.block + kLanes - 1) / kLanes);
    for (uint32_t k = 0; k < warps_.size(); ++k) MakeWarp(k);
  }

  Failure Run() {
    for (uint32_t k = launch_.grid; k-- > 0;) {
      BeginBlock(k);
      if (!RunBlock()) {
        block_.failure.text += " (block " + std::to_string(k) + ")";
        return block_.failure;
      }
    }
    return {};
  }

 private:
  void MakeWarp(uint32_t number) {
    Warp& warp = warps_[number];
    warp.block = &block_;
    warp.number = number;
    warp.storage.resize(kernel_.registers.size() + kAlignment);
    warp.registers = Aligned(&warp.storage);
    warp.local.resize(size_t{kernel_.local_bytes} * kLanes);
    const uint32_t threads =
        std::min<uint32_t>(launch_.block - number * kLanes, kLanes);
    warp.all = kAllLanes >> (kLanes - threads);
  }

  // A block sees nothing of the registers of those before it.
  void SetRegisters(uint32_t block, Warp* warp) {
    std::memcpy(warp->registers, kernel_.registers.data(),
                kernel_.registers.size());
    const auto set = [&](const char* name, const auto& value_of) {
      SetSpecial(kernel_, name, warp, value_of);
    };
    set("%ctaid.x", [&](uint32_t) { return block; });
    set("%tid.x", [&](uint32_t lane) { return warp->number * kLanes + lane; });
    set("%laneid", [](uint32_t lane) { return lane; });
    set("%warpid", [&](uint32_t) { return warp->number; });
    set("%ntid.x", [&](uint32_t) { return launch_.block; });
    set("%nctaid.x", [&](uint32_t) { return launch_.grid; });
    for (const char* const zero :
         {"%tid.y", "%tid.z", "%ctaid.y", "%ctaid.z"}) {
      set(zero, [](uint32_t) { return 0; });
    }
    for (const char* const one :
         {"%ntid.y", "%ntid.z", "%nctaid.y", "%nctaid.z"}) {
      set(one, [](uint32_t) { return 1; });
    }
  }

  void BeginBlock(uint32_t number) {
    const size_t shared = size_t{kernel_.shared_bytes} + launch_.shared_bytes;
    block_.number = number;
    block_.shared.assign(shared, 0xff);
    block_.group_products.clear();
    block_.mbarriers.clear();
    block_.bulk_copies.clear();
    block_.coming.clear();
    ForgetUses(&block_);
    for (Warp& warp : warps_) {
      SetRegisters(number, &warp);
      std::fill(warp.local.begin(), warp.local.end(), 0xff);
      std::fill(warp.pc, warp.pc + kLanes, 0);
      std::fill(warp.groups, warp.groups + kLanes, 0);
      warp.copies.clear();
      warp.products.clear();
      warp.products_begun = 0;
      warp.product_groups = 0;
      warp.products_are_fenced = false;
      warp.live = warp.all;
      warp.held = 0;
      warp.is_at_barrier = false;
    }
  }

  // From barrier to barrier.
  bool RunBlock() {
    for (;;) {
      if (!RunToBarrier()) return false;
      const Warp* waits = nullptr;
      const Warp* ended = nullptr;
      for (Warp& warp : warps_) {
        (warp.is_at_barrier ? waits : ended) = &warp;
        warp.is_at_barrier = false;
      }
      if (waits == nullptr) return HasAllCopies() && HasAllProducts(&warps_);
      NoteBarrier(&block_);
      const Instruction& barrier = kernel_.code[waits->pc[0] - 1];
      if (ended != nullptr) {
        return warps_[0].Fail(barrier, kIllegalInstruction,
                              "threads of the block ended without it");
      }
      for (const Warp& warp : warps_) {
        if (warp.pc[0] == waits->pc[0]) continue;
        return warps_[0].Fail(
            barrier, kIllegalInstruction,
            "threads of the block wait at line " +
                std::to_string(kernel_.code[warp.pc[0] - 1].line) + ", too");
      }
    }
  }

  // Runs each warp to the barrier or to its end. Those that try an mbarrier in
  // vain go on when the others have run.
  bool RunToBarrier() {
    for (int rounds = 0;;) {
      const uint64_t moves = block_.moves;
      Warp* tries = nullptr;
      for (Warp& warp : warps_) {
        if (warp.is_at_barrier || warp.live == 0) continue;
        if (!Runner(&warp, kernel_).Run()) return false;
        if (!warp.is_at_barrier && warp.live != 0) {
          tries = &warp;
        } else {
          ++block_.moves;
        }
      }
      if (tries == nullptr) return true;
      rounds = block_.moves != moves || ArriveLate(&warps_) ? 0 : rounds + 1;
      if (rounds > kPatience) return FailsForever(tries);
    }
  }

  bool FailsForever(Warp* tries) {
    const Mbarrier& barrier = block_.mbarriers.at(tries->tried_at);
    return tries->Fail(*tries->tried, kIllegalInstruction,
                       "a deadlock: warp " + std::to_string(tries->number) +
                           " waits for " + std::to_string(barrier.pending) +
                           " arrivals and " + std::to_string(barrier.bytes) +
                           " bytes in phase " + std::to_string(barrier.phases));
  }

  bool HasAllCopies() {
    if (block_.coming.empty()) return true;
    const BulkCopy& copy = block_.bulk_copies[block_.coming.front()];
    return warps_[0].Fail(*copy.instruction, kIllegalInstruction,
                          "the block ended and did not wait for it");
  }

  const Kernel& kernel_;
  const Launch& launch_;
  Block block_;
  std::vector<Warp> warps_;
};

}  // namespace

bool Warp::Fail(const Instruction& i, int code, const std::string& why) {
  block->failure.code = code;
  block->failure.text = block->kernel->name + ", line " +
                        std::to_string(i.line) + ": " + i.text + ": " + why;
  return false;
}

Failure Run(const Module& module, const Kernel& kernel, const Launch& launch) {
  if (launch.block == 0 || launch.block > kernel.max_threads ||
      launch.grid == 0) {
    return {kInvalidValue, kernel.name + ": the launch has " +
                               std::to_string(launch.block) +
                               " threads in a block"};
  }
  return Grid(module, kernel, launch).Run();
}

}  // namespace ingot::isa::ptx
