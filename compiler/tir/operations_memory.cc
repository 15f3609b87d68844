// The instructions of the interpreter that load and store.
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/tir/bytecode.h"
#include "compiler/tir/numeric.h"
#include "runtime/float16.h"
#include "runtime/tensor.h"

namespace ingot::tir {
namespace {

using I = const Instruction*;

// An element's bytes to a register and back.
template <typename T>
struct IntFormat {
  static constexpr size_t kSize = sizeof(T);
  static void Read(const char* p, Register* r) {
    T value;
    std::memcpy(&value, p, sizeof(T));
    r->i = static_cast<int64_t>(value);
  }
  static void Write(Register r, char* p) {
    const T value = static_cast<T>(r.i);
    std::memcpy(p, &value, sizeof(T));
  }
};
template <typename T>
struct FloatFormat {
  static constexpr size_t kSize = sizeof(T);
  static void Read(const char* p, Register* r) {
    T value;
    std::memcpy(&value, p, sizeof(T));
    r->f = value;
  }
  static void Write(Register r, char* p) {
    const T value = static_cast<T>(r.f);
    std::memcpy(p, &value, sizeof(T));
  }
};
template <float (*decode)(uint16_t), uint16_t (*encode)(double)>
struct Float16Format {
  static constexpr size_t kSize = sizeof(uint16_t);
  static void Read(const char* p, Register* r) {
    uint16_t value;
    std::memcpy(&value, p, sizeof(value));
    r->f = decode(value);
  }
  static void Write(Register r, char* p) {
    const uint16_t value = encode(r.f);
    std::memcpy(p, &value, sizeof(value));
  }
};
struct BoolFormat {
  static constexpr size_t kSize = 1;
  static void Read(const char* p, Register* r) { r->i = *p != 0; }
  static void Write(Register r, char* p) { *p = r.i != 0; }
};

// An element that a lane cannot use; `wrong` is null where it does not exist.
struct BadElement {
  int lane = 0;
  const char* wrong = nullptr;
};

I Refuse(const Access& access, const BadElement& bad, const char* what,
         Machine* m) {
  const BufferState& buffer = m->buffers[access.buffer];
  std::vector<int64_t> at;
  for (size_t d = 0; d < access.indices.size(); ++d) {
    const bool vector = static_cast<int>(d) == access.vector_dim;
    at.push_back(m->At(access.indices[d])[vector ? bad.lane : 0].i);
  }
  const std::string element = absl::StrCat(what, " %", buffer.node->name, "[",
                                           absl::StrJoin(at, ", "), "]");
  m->status = bad.wrong != nullptr
                  ? absl::FailedPreconditionError(absl::StrCat(
                        element, " by thread ", m->place.thread, " of block ",
                        m->place.block, ": ", bad.wrong))
                  : absl::OutOfRangeError(absl::StrCat(
                        element, " is outside of ",
                        TypeString(buffer.node->dtype, buffer.dims)));
  return nullptr;
}

// Calls use(lane, address) for each lane that is not masked.
template <size_t size, bool is_store, typename Use>
bool ForEachElement(const Access& access, int lanes, Machine* m,
                    BadElement* bad, const Use& use) {
  BufferState& buffer = m->buffers[access.buffer];
  const Register* mask = access.mask >= 0 ? m->At(access.mask) : nullptr;
  const size_t rank = access.indices.size();
  for (int lane = 0; lane < lanes; ++lane) {
    if (mask != nullptr && mask[lane].i == 0) continue;
    int64_t offset = 0;
    for (size_t d = 0; d < rank; ++d) {
      const bool vector = static_cast<int>(d) == access.vector_dim;
      const int64_t index = m->At(access.indices[d])[vector ? lane : 0].i;
      if (static_cast<uint64_t>(index) >=
          static_cast<uint64_t>(buffer.dims[d])) {
        bad->lane = lane;
        return false;
      }
      offset += index * buffer.strides[d];
    }
    if (buffer.tracked) {
      ElementUses& uses = buffer.uses[static_cast<size_t>(offset)];
      const Scope scope = buffer.node->scope;
      bad->lane = lane;
      bad->wrong =
          is_store ? uses.Write(scope, m->place) : uses.Read(scope, m->place);
      if (bad->wrong != nullptr) return false;
    }
    use(lane, buffer.data + offset * static_cast<int64_t>(size));
  }
  return true;
}

template <typename Format>
I RunLoad(I in, Machine* m) {
  const Access& access = (*m->accesses)[in->a];
  Register* out = m->At(in->dst);
  if (access.mask >= 0) {
    for (int lane = 0; lane < in->lanes; ++lane) out[lane].i = 0;
  }
  BadElement bad;
  if (!ForEachElement<Format::kSize, /*is_store=*/false>(
          access, in->lanes, m, &bad,
          [out](int l, const char* p) { Format::Read(p, &out[l]); })) {
    return Refuse(access, bad, "load of", m);
  }
  return in + 1;
}

template <typename Format>
I RunStore(I in, Machine* m) {
  const Access& access = (*m->accesses)[in->a];
  const Register* value = m->At(in->b);
  BadElement bad;
  if (!ForEachElement<Format::kSize, /*is_store=*/true>(
          access, in->lanes, m, &bad,
          [value](int l, char* p) { Format::Write(value[l], p); })) {
    return Refuse(access, bad, "store to", m);
  }
  return in + 1;
}

// Picks Run<Format> for a type.
template <template <typename> class Run>
Operation ByFormat(DataType t) {
  if (t.is_bool()) return Run<BoolFormat>::Op();
  if (t.code == DataType::kBFloat) {
    return Run<Float16Format<BFloat16ToFloat, DoubleToBFloat16>>::Op();
  }
  if (t.code == DataType::kFloat) {
    if (t.bits == 16) {
      return Run<Float16Format<HalfToFloat, DoubleToHalf>>::Op();
    }
    return t.bits == 32 ? Run<FloatFormat<float>>::Op()
                        : Run<FloatFormat<double>>::Op();
  }
  switch (t.bits) {
    case 8:
      return t.is_int() ? Run<IntFormat<int8_t>>::Op()
                        : Run<IntFormat<uint8_t>>::Op();
    case 16:
      return t.is_int() ? Run<IntFormat<int16_t>>::Op()
                        : Run<IntFormat<uint16_t>>::Op();
    case 32:
      return t.is_int() ? Run<IntFormat<int32_t>>::Op()
                        : Run<IntFormat<uint32_t>>::Op();
    default:
      return Run<IntFormat<int64_t>>::Op();
  }
}
template <typename Format>
struct LoadOf {
  static Operation Op() { return RunLoad<Format>; }
};
template <typename Format>
struct StoreOf {
  static Operation Op() { return RunStore<Format>; }
};

}  // namespace

Operation PlaceOperation() {
  return [](I in, Machine* m) -> I {
    RunPlace& place = m->place;
    const auto iteration = static_cast<int32_t>(m->At(in->a)->i);
    switch (static_cast<PlaceStep>(in->op)) {
      case PlaceStep::kKernelBegin:
      case PlaceStep::kKernelEnd:
        ++place.kernel;
        place.block = -1;
        break;
      case PlaceStep::kBlock:
        place.block = iteration;
        break;
      case PlaceStep::kThreadsBegin:
      case PlaceStep::kThreadsEnd:
        ++place.phase;
        place.thread = -1;
        break;
      case PlaceStep::kThread:
        place.thread = iteration;
        break;
    }
    return in + 1;
  };
}

Operation LoadOperation(DataType t) { return ByFormat<LoadOf>(t); }
Operation StoreOperation(DataType t) { return ByFormat<StoreOf>(t); }

}  // namespace ingot::tir
