// Moves, selections and logic of predicates.
#include <cstdint>
#include <string>

#include "isa/testing/ptx/forms.h"
#include "isa/testing/ptx/warp.h"

namespace ingot::isa::ptx {
namespace {

struct Same {
  template <typename T>
  static T Do(T a) {
    return a;
  }
};

// Joins `kParts` registers of type T, lowest first, to one of type D; or the
// reverse.
template <typename D, typename T, int kParts>
bool Join(Warp& warp, const Instruction& i) {
  D to[kLanes] = {};
  for (int k = 0; k < kParts; ++k) {
    const T* const part = warp.Lanes<T>(i.at[k + 1]);
    for (int lane = 0; lane < kLanes; ++lane) {
      to[lane] |= static_cast<D>(part[lane]) << (k * 8 * sizeof(T));
    }
  }
  Keep(warp, i.at[0], to);
  return true;
}

template <typename S, typename T, int kParts>
bool Split(Warp& warp, const Instruction& i) {
  T to[kParts][kLanes];
  const S* const from = warp.Lanes<S>(i.at[kParts]);
  for (int k = 0; k < kParts; ++k) {
    for (int lane = 0; lane < kLanes; ++lane) {
      to[k][lane] = static_cast<T>(from[lane] >> (k * 8 * sizeof(T)));
    }
  }
  for (int k = 0; k < kParts; ++k) Keep(warp, i.at[k], to[k]);
  return true;
}

template <typename T>
struct Selection {
  static bool Run(Warp& warp, const Instruction& i) {
    const T* const a = warp.Lanes<T>(i.at[1]);
    const T* const b = warp.Lanes<T>(i.at[2]);
    const uint32_t first = *warp.Lanes<uint32_t>(i.at[3]);
    T to[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
      to[lane] = (first >> lane & 1) != 0 ? a[lane] : b[lane];
    }
    Keep(warp, i.at[0], to);
    return true;
  }
  static Form MakeForm() {
    Form form;
    form.operands = {kLetterOf<T>, kLetterOf<T>, kLetterOf<T>, 'p'};
    form.run = Run;
    return form;
  }
};

template <uint32_t (*kOp)(uint32_t, uint32_t)>
bool OfPredicates(Warp& warp, const Instruction& i) {
  KeepPredicate(warp, i.at[0],
                kOp(*warp.Lanes<uint32_t>(i.at[1]),
                    *warp.Lanes<uint32_t>(i.at[i.form.operands.size() - 1])));
  return true;
}
uint32_t And(uint32_t a, uint32_t b) { return a & b; }
uint32_t Or(uint32_t a, uint32_t b) { return a | b; }
uint32_t Xor(uint32_t a, uint32_t b) { return a ^ b; }
uint32_t Not(uint32_t a, uint32_t) { return ~a; }
uint32_t First(uint32_t a, uint32_t) { return a; }

Form Of(const char* operands, Handler run) {
  Form form;
  form.operands = operands;
  form.run = run;
  return form;
}

template <typename T>
void AddOfWidth(Forms* forms, const std::string& bits) {
  for (const std::string type : {".b", ".u", ".s", ".f"}) {
    (*forms)["mov" + type + bits] = Lanewise<Same, T, T>::MakeForm();
    (*forms)["selp" + type + bits] = Selection<T>::MakeForm();
  }
}

// The forms of "mov" that have braces have their number of operands as a name.
void AddJoins(Forms* forms) {
  Forms& f = *forms;
  f["mov.b32{2"] = Of("hhw", Split<uint32_t, uint16_t, 2>);
  f["mov.b64{2"] = Of("wwd", Split<uint64_t, uint32_t, 2>);
  f["mov.b64{4"] = Of("hhhhd", Split<uint64_t, uint16_t, 4>);
  f["mov.b32}2"] = Of("whh", Join<uint32_t, uint16_t, 2>);
  f["mov.b64}2"] = Of("dww", Join<uint64_t, uint32_t, 2>);
  f["mov.b64}4"] = Of("dhhhh", Join<uint64_t, uint16_t, 4>);
}

template <int kSign, uint64_t kWindow>
bool MoveWindow(Warp& warp, const Instruction& i) {
  uint64_t to[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    to[lane] = warp.Lanes<uint64_t>(i.at[1])[lane] + kSign * kWindow;
  }
  Keep(warp, i.at[0], to);
  return true;
}

}  // namespace

void AddMoves(Forms* forms) {
  AddOfWidth<uint16_t>(forms, "16");
  AddOfWidth<uint32_t>(forms, "32");
  AddOfWidth<uint64_t>(forms, "64");
  AddJoins(forms);
  Forms& f = *forms;
  f["mov.pred"] = Of("pp", OfPredicates<First>);
  f["not.pred"] = Of("pp", OfPredicates<Not>);
  f["and.pred"] = Of("ppp", OfPredicates<And>);
  f["or.pred"] = Of("ppp", OfPredicates<Or>);
  f["xor.pred"] = Of("ppp", OfPredicates<Xor>);
  f["cvta.global.u64"] = Of("dd", MoveWindow<0, 0>);
  f["cvta.to.global.u64"] = Of("dd", MoveWindow<0, 0>);
  f["cvta.const.u64"] = Of("dd", MoveWindow<0, 0>);
  f["cvta.to.const.u64"] = Of("dd", MoveWindow<0, 0>);
  f["cvta.shared.u64"] = Of("dd", MoveWindow<1, kSharedWindow>);
  f["cvta.to.shared.u64"] = Of("dd", MoveWindow<-1, kSharedWindow>);
  f["cvta.param.u64"] = Of("dd", MoveWindow<1, kParameterWindow>);
  f["cvta.local.u64"] = Of("dd", MoveWindow<1, kLocalWindow>);
  f["cvta.to.local.u64"] = Of("dd", MoveWindow<-1, kLocalWindow>);
}

}  // namespace ingot::isa::ptx
