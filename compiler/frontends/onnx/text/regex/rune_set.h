// Sets of Unicode's code points. Internal to this folder.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_TEXT_REGEX_RUNE_SET_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_TEXT_REGEX_RUNE_SET_H_

#include <map>

namespace ingot::regex {

inline constexpr int kLastRune = 0x10FFFF;

class RuneSet {
 public:
  void Add(int low, int high);
  void Add(const RuneSet& other);
  // Adds ASCII's letters in both cases for each that is there, and the two code
  // points beyond ASCII that Unicode folds to ASCII's letters.
  void FoldCase();
  void Negate();
  bool HasBeyondAscii() const;

  // First code point -> last one; ranges in order, none touches another.
  const std::map<int, int>& ranges() const { return ranges_; }

 private:
  bool Contains(int rune) const;

  std::map<int, int> ranges_;
};

}  // namespace ingot::regex

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_TEXT_REGEX_RUNE_SET_H_
