// A target as an ordinary test: its seeds, the files that once made it fail,
// and changes of both, with words of its dictionary, the same ones in every
// run. INGOT_FUZZ_ROUNDS asks for more. The input that a crash was at is in the
// file last_input of the test's outputs.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "google/protobuf/stubs/logging.h"
#include "gtest/gtest.h"
#include "tests/fuzz/readers/target.h"

namespace ingot::fuzz {
namespace {

constexpr int kRounds = 4000;
// No input of a few thousand bytes is worth more, on a busy machine either.
constexpr std::chrono::seconds kLongest{10};

std::vector<std::string> Corpus() {
  std::vector<std::string> inputs = Seeds();
  const char* const files = std::getenv("INGOT_FUZZ_CORPUS");
  for (absl::string_view path :
       absl::StrSplit(files == nullptr ? "" : files, ' ', absl::SkipEmpty())) {
    std::ifstream file{std::string(path), std::ios::binary};
    EXPECT_TRUE(file.good()) << path;
    inputs.emplace_back(std::istreambuf_iterator<char>(file),
                        std::istreambuf_iterator<char>());
  }
  return inputs;
}

// The words of the target's dictionary: lines of "…", as libFuzzer has them.
std::vector<std::string> Words() {
  std::vector<std::string> words;
  const char* const path = std::getenv("INGOT_FUZZ_DICTIONARY");
  if (path == nullptr) return words;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::string word;
    EXPECT_TRUE(line.size() > 2 && line.front() == '"' && line.back() == '"' &&
                absl::CUnescape(line.substr(1, line.size() - 2), &word))
        << path << ": " << line;
    words.push_back(word);
  }
  EXPECT_FALSE(words.empty()) << path;
  return words;
}

class Changes {
 public:
  Changes(const std::vector<std::string>& corpus,
          std::vector<std::string> words)
      : corpus_(corpus), words_(std::move(words)) {}

  std::string Next() {
    std::string input = corpus_[Pick(corpus_.size())];
    for (size_t i = 0, n = 1 + Pick(4); i < n; ++i) Change(&input);
    return input;
  }

 private:
  size_t Pick(size_t n) { return n == 0 ? 0 : random_() % n; }

  void Change(std::string* input) {
    const size_t at = Pick(input->size());
    const size_t length = std::min(1 + Pick(16), input->size() - at);
    switch (Pick(words_.empty() ? 7 : 8)) {
      case 0:
        if (!input->empty()) (*input)[at] ^= static_cast<char>(1 << Pick(8));
        break;
      case 1:
        if (!input->empty()) (*input)[at] = static_cast<char>(random_());
        break;
      case 2:
        input->insert(at, 1 + Pick(8), static_cast<char>(random_()));
        break;
      case 3:
        input->erase(at, length);
        break;
      case 4:
        input->insert(at, input->substr(Pick(input->size()), length));
        break;
      case 5: {  // a number that is often a limit
        static constexpr int64_t kNumbers[] = {
            0,     1,         -1,        127,       255,
            65535, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
        const int64_t number = kNumbers[Pick(std::size(kNumbers))];
        const size_t bytes = std::min<size_t>(size_t{1} << Pick(4), length);
        input->replace(at, bytes, reinterpret_cast<const char*>(&number),
                       bytes);
        break;
      }
      case 6: {  // a piece of another input
        const std::string& other = corpus_[Pick(corpus_.size())];
        const size_t from = Pick(other.size());
        input->replace(at, length, other.substr(from, 1 + Pick(64)));
        break;
      }
      default:
        input->insert(at, words_[Pick(words_.size())]);
    }
  }

  const std::vector<std::string>& corpus_;
  const std::vector<std::string> words_;
  std::mt19937_64 random_{15};
};

// Adds the input to the count of those taken.
void Try(const std::string& input, int* taken) {
  const char* const folder = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  const std::string kept = absl::StrCat(
      folder == nullptr ? testing::TempDir() : folder, "/last_input");
  std::ofstream(kept, std::ios::binary) << input;
  const auto start = std::chrono::steady_clock::now();
  const absl::StatusOr<bool> result = TryInput(input);
  EXPECT_TRUE(result.ok()) << result.status();
  EXPECT_LT(std::chrono::steady_clock::now() - start, kLongest);
  if (testing::Test::HasFailure()) {
    std::filesystem::rename(kept, absl::StrCat(kept, ".failed"));
    FAIL() << "the input is in " << kept << ".failed";
  }
  std::filesystem::remove(kept);
  if (*result) ++*taken;
}

TEST(FuzzTest, InputsAndTheirChanges) {
  google::protobuf::SetLogHandler(nullptr);
  const std::vector<std::string> corpus = Corpus();
  ASSERT_FALSE(corpus.empty());
  int sound = 0, taken = 0;
  for (const std::string& input : corpus) {
    ASSERT_NO_FATAL_FAILURE(Try(input, &sound));
  }
  EXPECT_GT(sound, 0) << "Nothing but garbage is tried.";
  const char* const asked = std::getenv("INGOT_FUZZ_ROUNDS");
  const int rounds = asked == nullptr ? kRounds : std::atoi(asked);
  Changes changes(corpus, Words());
  for (int i = 0; i < rounds; ++i) {
    ASSERT_NO_FATAL_FAILURE(Try(changes.Next(), &taken));
  }
  std::printf("%d of %zu inputs are sound; %d of %d changed ones\n", sound,
              corpus.size(), taken, rounds);
}

}  // namespace
}  // namespace ingot::fuzz
