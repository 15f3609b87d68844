// Operators on sequences of words, as text or as numbers.
#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/graph/importer.h"
#include "compiler/frontends/onnx/model/tensor_proto.h"
#include "compiler/frontends/onnx/text/regex/dfa.h"
#include "compiler/frontends/onnx/text/text_moves.h"

namespace ingot::onnx_frontend {
namespace {

// The n-grams that are looked for, one length after the other.
struct NgramPool {
  struct OfLength {
    int64_t n = 0;
    std::vector<int64_t> words;  // n for each n-gram
    int64_t count() const { return static_cast<int64_t>(words.size()) / n; }
  };
  std::vector<OfLength> lengths;
  std::vector<int64_t> columns;  // of the result, for each n-gram
  int64_t width = 0;             // columns of the result
};

absl::StatusOr<NgramPool> ReadPool(NodeContext& c,
                                   const std::vector<int64_t>& words) {
  const std::vector<int64_t> starts = c.Ints("ngram_counts");
  NgramPool pool;
  pool.columns = c.Ints("ngram_indexes");
  const int64_t size = static_cast<int64_t>(words.size());
  for (size_t k = 0; k < starts.size(); ++k) {
    const int64_t n = static_cast<int64_t>(k) + 1;
    const int64_t start = starts[k];
    const int64_t end = k + 1 < starts.size() ? starts[k + 1] : size;
    if (start < 0 || end < start || end > size || (end - start) % n != 0) {
      return c.Error("ngram_counts does not cut the pool of ", size,
                     " words into n-grams");
    }
    pool.lengths.push_back({n, {words.begin() + start, words.begin() + end}});
  }
  size_t count = 0;
  for (const NgramPool::OfLength& l : pool.lengths) count += l.count();
  if (count == 0 || pool.columns.size() != count) {
    return c.Error("has ", count, " n-grams and ", pool.columns.size(),
                   " ngram_indexes");
  }
  constexpr int64_t kMaxWidth = 1 << 24;
  for (int64_t column : pool.columns) {
    if (column < 0 || column >= kMaxWidth) {
      return c.Error("ngram_indexes has ", column);
    }
    pool.width = std::max(pool.width, column + 1);
  }
  return pool;
}

// Counts each n-gram of one length that begins at the first `positions` words
// of the rows of x, its words `stride` apart: [rows, n-grams].
Value CountNgrams(Compose& k, Value x, const tir::Expr& positions,
                  const NgramPool::OfLength& ngrams, int64_t stride) {
  const int64_t count = ngrams.count();
  Value found;
  for (int64_t j = 0; j < ngrams.n && k.ok(); ++j) {
    std::vector<int64_t> words;
    for (int64_t g = 0; g < count; ++g) {
      words.push_back(ngrams.words[g * ngrams.n + j]);
    }
    const Value wanted = k.Constant(
        MakeTensor<int64_t>(DataType::Int(64), {1, 1, count}, words));
    const Value part = k.Slice(x, 1, tir::MakeInt(j * stride),
                               SimplifyDim(positions + j * stride));
    if (!k.ok()) break;
    Shape shape = ShapeOf(part);
    shape.push_back(tir::MakeInt(1));
    const Value same = k.Call("equal", {k.Reshape(part, shape), wanted});
    found = j == 0 ? same : k.Call("logical_and", {found, same});
  }
  return k.Reduce("reduce_sum", k.Cast(found, DataType::Float(32)), {1},
                  /*keepdims=*/false);
}

// Puts the counts [rows, n-grams] into the columns of the result. Several
// n-grams may share one: their counts add up.
Value PlaceColumns(Compose& k, Value counts, const NgramPool& pool) {
  std::vector<std::vector<int64_t>> of_column(pool.width);
  size_t rounds = 1;
  for (size_t g = 0; g < pool.columns.size(); ++g) {
    std::vector<int64_t>& ngrams = of_column[pool.columns[g]];
    ngrams.push_back(static_cast<int64_t>(g));
    rounds = std::max(rounds, ngrams.size());
  }
  // A column of zeros, for those that take no more n-grams.
  const int64_t none = static_cast<int64_t>(pool.columns.size());
  Attrs pad;
  pad.Set("pads", std::vector<int64_t>{0, 0, 0, 1});
  counts = k.Call("pad", {counts}, pad);
  Value total;
  for (size_t round = 0; round < rounds; ++round) {
    std::vector<int64_t> from;
    for (const std::vector<int64_t>& ngrams : of_column) {
      from.push_back(round < ngrams.size() ? ngrams[round] : none);
    }
    const Value indices =
        k.Constant(MakeTensor<int64_t>(DataType::Int(64), {pool.width}, from));
    Attrs gather;
    gather.Set("axis", int64_t{1});
    const Value part = k.Call("gather", {counts, indices}, gather);
    total = round == 0 ? part : k.Add(total, part);
  }
  return total;
}

// Each string of x as a number, 0 for one that is not in the pool, whose own
// numbers are `numbers`.
absl::StatusOr<Value> NumberWords(NodeContext& c, const Value& x,
                                  const std::vector<std::string>& pool,
                                  std::vector<int64_t>* numbers) {
  std::map<std::string, int64_t> known;
  std::vector<std::string> words;
  std::vector<int64_t> count;
  for (const std::string& word : pool) {
    const auto [it, added] =
        known.emplace(word, static_cast<int64_t>(words.size()) + 1);
    if (added) {
      words.push_back(word);
      count.push_back(it->second);
    }
    numbers->push_back(it->second);
  }
  Compose k(c);
  Shape shape = ShapeOf(x);
  const int rank = RankOf(x);
  shape.insert(shape.end() - 1, tir::MakeInt(1));
  const Value same = TextsEqual(k, k.Reshape(x, shape), TextConstant(k, words));
  const Value number = k.Constant(MakeTensor<int64_t>(
      DataType::Int(64), {static_cast<int64_t>(count.size())}, count));
  const Value y = k.Reduce(
      "reduce_sum", k.Mul(k.Cast(same, DataType::Int(64)), number), {rank - 1},
      /*keepdims=*/false);
  INGOT_RETURN_IF_ERROR(k.status());
  return y;
}

// Rows of words.
struct Rows {
  Value x;  // [rows, extent], or more columns whose words are in no n-gram
  tir::Expr extent;
  bool has_more;
};

// Adds so many columns of a word that is in no n-gram, so that windows which
// begin at any word lie inside, however many of these there are.
Rows WithMore(Compose& k, Value x, int64_t columns, const NgramPool& pool) {
  std::set<int64_t> known;
  for (const NgramPool::OfLength& ngrams : pool.lengths) {
    known.insert(ngrams.words.begin(), ngrams.words.end());
  }
  int64_t word = -1;
  while (known.count(word) > 0) --word;
  Attrs attrs;
  attrs.Set("pads", std::vector<int64_t>{0, 0, 0, columns});
  attrs.Set("value", static_cast<double>(word));
  const tir::Expr extent = ShapeOf(x)[1];
  return {k.Call("pad", {x}, std::move(attrs)), extent, true};
}

// Counts each n-gram in the rows, at strides from 1 up to `strides` between its
// words.
absl::StatusOr<Value> CountWithSkips(NodeContext& c, Compose& k,
                                     const Rows& words,
                                     const NgramPool::OfLength& ngrams,
                                     int64_t strides) {
  // A stride makes no difference to a single word.
  if (ngrams.n == 1) strides = std::min<int64_t>(strides, 1);
  Value total;
  for (int64_t stride = 1; stride <= strides; ++stride) {
    tir::Expr positions = words.extent;
    if (!words.has_more) {
      positions = SimplifyDim(positions - (ngrams.n - 1) * stride);
      int64_t count;
      if (tir::AsConstInt(positions, &count) && count <= 0) break;
    }
    const Value part = CountNgrams(k, words.x, positions, ngrams, stride);
    total = stride == 1 ? part : k.Add(total, part);
  }
  if (total) return total;
  const tir::Expr& rows = ShapeOf(words.x)[0];
  Attrs zeros;
  zeros.Set("shape", Shape{rows, tir::MakeInt(ngrams.count())});
  zeros.Set("dtype", DataType::Float(32));
  INGOT_ASSIGN_OR_RETURN(std::vector<Value> sources,
                         c.builder().DimSources({rows}));
  return k.Call("full", sources, zeros);
}

absl::Status TfIdfVectorizer(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.StoredInput(0));
  std::vector<int64_t> words = c.Ints("pool_int64s");
  const std::vector<std::string> strings = c.Strings("pool_strings");
  if (c.storage(0) == StorageType::kText && !strings.empty() && words.empty()) {
    INGOT_ASSIGN_OR_RETURN(x, NumberWords(c, x, strings, &words));
  } else if (c.storage(0) != StorageType::kNone || !strings.empty()) {
    return c.Error("the operand and the pool are of different types");
  }
  INGOT_ASSIGN_OR_RETURN(NgramPool pool, ReadPool(c, words));
  const int rank = RankOf(x);
  if (rank < 1 || rank > 2 || !x.type().dtype.is_integer()) {
    return c.Error("the operand is ", relay::ToString(x.type()));
  }
  const std::string mode = c.String("mode", "");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF") {
    return c.Error("there is no mode '", mode, "'");
  }
  const int64_t shortest = c.Int("min_gram_length", 1);
  const int64_t longest = c.Int("max_gram_length", 1);
  const int64_t skips = c.Int("max_skip_count", 0);
  constexpr int64_t kMostSkips = 1 << 10;
  if (skips > kMostSkips) return c.NotSupported("max_skip_count=", skips);
  if (shortest < 1 || longest < shortest || skips < 0) {
    return c.Error("min_gram_length=", shortest, ", max_gram_length=", longest,
                   ", max_skip_count=", skips);
  }

  Compose k(c);
  const tir::Expr rows = rank == 2 ? ShapeOf(x)[0] : tir::MakeInt(1);
  x = k.Reshape(k.Cast(x, DataType::Int(64)), {rows, ShapeOf(x)[rank - 1]});
  INGOT_RETURN_IF_ERROR(k.status());
  Rows in = {x, ShapeOf(x)[1], false};
  int64_t extent = std::numeric_limits<int64_t>::max();
  if (!tir::AsConstInt(in.extent, &extent)) {
    const auto most = static_cast<int64_t>(pool.lengths.size());
    in = WithMore(k, x, (std::min(longest, most) - 1) * (skips + 1), pool);
    INGOT_RETURN_IF_ERROR(k.status());
  }
  std::vector<Value> counts;
  for (const NgramPool::OfLength& ngrams : pool.lengths) {
    if (ngrams.count() == 0) continue;
    // Beyond the sequence's length there is nothing to find.
    int64_t strides = 0;
    if (ngrams.n >= shortest && ngrams.n <= longest && ngrams.n <= extent) {
      strides = std::min(skips + 1, extent);
    }
    INGOT_ASSIGN_OR_RETURN(const Value total,
                           CountWithSkips(c, k, in, ngrams, strides));
    counts.push_back(total);
  }
  Value all = k.Concat(counts, 1);
  if (mode == "IDF") {
    Attrs limit;
    limit.Set("max", 1.0);
    all = k.Call("clip", {all}, limit);
  }
  const std::vector<double> weights = c.Floats("weights");
  if (mode != "TF" && !weights.empty()) {
    const int64_t n = static_cast<int64_t>(pool.columns.size());
    if (static_cast<int64_t>(weights.size()) != n) {
      return c.Error("has ", weights.size(), " weights for ", n, " n-grams");
    }
    const std::vector<float> floats(weights.begin(), weights.end());
    all = k.Mul(
        all, k.Constant(MakeTensor<float>(DataType::Float(32), {n}, floats)));
  }
  Value y = PlaceColumns(k, all, pool);
  if (rank == 1) y = k.Reshape(y, {tir::MakeInt(pool.width)});
  c.SetOutput(0, y);
  return k.status();
}

// The strings of x[n] as bytes [n, width] that are none of the stop words, as
// bytes again; one empty string when none is left.
absl::StatusOr<Value> WithoutStopWords(NodeContext& c, Value x,
                                       const std::vector<std::string>& words) {
  const bool ignore_case = c.Int("is_case_sensitive", 0) == 0;
  Compose k(c);
  const Value list = TextConstant(k, words);
  Attrs attrs;
  if (ignore_case) attrs.Set("ignore_case", int64_t{1});
  const Value stopped = k.Call("words_equal", {x, list}, std::move(attrs));
  const Value kept = k.Call("logical_not", {stopped});
  // An empty string after the others stays if nothing else does.
  const Value count =
      k.Reduce("reduce_sum", k.Cast(kept, DataType::Int(64)), {0});
  const Value none = k.Call("equal", {count, k.Like(count, 0)});
  const Value chosen = k.Concat({kept, none}, 0);
  Attrs one_more;
  one_more.Set("pads", std::vector<int64_t>{0, 0, 1, 0});
  const Value strings = k.Call("pad", {x}, std::move(one_more));
  const Value left = k.Call("maximum", {count, k.Like(count, 1)});
  INGOT_RETURN_IF_ERROR(k.status());
  INGOT_ASSIGN_OR_RETURN(
      Shape number,
      c.builder().BindDims(left, absl::StrCat(c.name(), "_count")));
  Attrs places;
  places.Set("count", number);
  const Value at =
      k.Reshape(k.Call("nonzero", {chosen}, std::move(places)), number);
  const Value y = k.Call("gather", {strings, at});
  INGOT_RETURN_IF_ERROR(k.status());
  return y;
}

absl::Status StringNormalizer(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.StoredInput(0));
  const int rank = RankOf(x) - 1;
  if (c.storage(0) != StorageType::kText || rank < 1 || rank > 2 ||
      (rank == 2 && !tir::IsConstInt(ShapeOf(x)[0], 1))) {
    return c.Error("the operand is no line of strings");
  }
  const std::string action = c.String("case_change_action", "NONE");
  if (action != "NONE" && action != "LOWER" && action != "UPPER") {
    return c.Error("there is no case_change_action '", action, "'");
  }
  Compose k(c);
  if (rank == 2) x = k.Reshape(x, {ShapeOf(x)[1], ShapeOf(x)[2]});
  const std::vector<std::string> words = c.Strings("stopwords");
  INGOT_RETURN_IF_ERROR(k.status());
  if (!words.empty()) {
    INGOT_ASSIGN_OR_RETURN(x, WithoutStopWords(c, x, words));
  }
  if (action != "NONE") {
    Attrs attrs;
    attrs.Set("case", std::string(action == "LOWER" ? "lower" : "upper"));
    x = k.Call("change_case", {x}, std::move(attrs));
  }
  INGOT_RETURN_IF_ERROR(k.status());
  if (rank == 2) {
    x = k.Reshape(x, {tir::MakeInt(1), ShapeOf(x)[0], ShapeOf(x)[1]});
  }
  INGOT_RETURN_IF_ERROR(k.status());
  c.SetStoredOutput(0, x, StorageType::kText);
  return absl::OkStatus();
}

absl::Status StringConcat(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value a, c.StoredInput(0));
  INGOT_ASSIGN_OR_RETURN(Value b, c.StoredInput(1));
  if (c.storage(0) != StorageType::kText ||
      c.storage(1) != StorageType::kText) {
    return c.Error("takes strings");
  }
  INGOT_ASSIGN_OR_RETURN(Value y, c.Emit("concat_text", {a, b}));
  c.SetStoredOutput(0, y, StorageType::kText);
  return absl::OkStatus();
}

// The number of pieces of the string that has the most, as a symbol.
absl::StatusOr<Shape> MostPieces(NodeContext& c, Value counts) {
  Compose k(c);
  std::vector<int64_t> axes;
  for (int d = 0; d < RankOf(counts); ++d) axes.push_back(d);
  Value most = counts;
  if (!axes.empty()) {
    most = k.Reduce("reduce_max", counts, axes, /*keepdims=*/false);
  }
  // Without any strings there are no pieces either.
  most = k.Call("maximum", {most, k.Like(most, 0)});
  INGOT_RETURN_IF_ERROR(k.status());
  return c.builder().BindDims(most, absl::StrCat(c.name(), "_pieces"));
}

absl::Status StringSplit(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.StoredInput(0));
  if (c.storage(0) != StorageType::kText) return c.Error("takes strings");
  const std::string delimiter = c.String("delimiter", "");
  const int64_t most = c.Int("maxsplit", -1);
  Compose k(c);
  std::vector<Value> operands = {x};
  if (!delimiter.empty()) {
    const std::vector<uint8_t> bytes(delimiter.begin(), delimiter.end());
    operands.push_back(k.Constant(MakeTensor<uint8_t>(
        DataType::UInt(8), {static_cast<int64_t>(bytes.size())}, bytes)));
  }
  INGOT_RETURN_IF_ERROR(k.status());
  Attrs attrs;
  if (most >= 0) attrs.Set("most", most);
  INGOT_ASSIGN_OR_RETURN(
      relay::Node * found,
      c.EmitNode("find_pieces", operands, std::move(attrs), "found"));
  const Value pieces{found, 0}, counts{found, 1};
  if (c.wants_output(0)) {
    INGOT_ASSIGN_OR_RETURN(Shape count, MostPieces(c, counts));
    Attrs number;
    number.Set("count", std::move(count));
    INGOT_ASSIGN_OR_RETURN(
        Value y, c.Emit("take_pieces", {x, pieces}, std::move(number)));
    c.SetStoredOutput(0, y, StorageType::kText);
  }
  if (c.wants_output(1)) c.SetOutput(1, counts);
  return absl::OkStatus();
}

absl::Status RegexFullMatch(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.StoredInput(0));
  if (c.storage(0) != StorageType::kText) return c.Error("takes strings");
  if (!c.has_attr("pattern")) return c.Error("has no pattern");
  INGOT_ASSIGN_OR_RETURN(const regex::Dfa dfa,
                         regex::CompileRegex(c.String("pattern", "")));
  const int64_t states = dfa.num_states();
  Tensor accepting;
  INGOT_ASSIGN_OR_RETURN(accepting, Tensor::Empty(DataType::Bool(), {states}));
  std::copy(dfa.accepting.begin(), dfa.accepting.end(),
            accepting.mutable_data<bool>());
  Compose k(c);
  const Value classes =
      k.Constant(MakeTensor<uint8_t>(DataType::UInt(8), {256}, dfa.class_of));
  const Value next = k.Constant(MakeTensor<uint16_t>(
      DataType::UInt(16), {states, dfa.num_classes}, dfa.next));
  const Value y =
      k.Call("dfa_match", {x, classes, next, k.Constant(std::move(accepting))});
  INGOT_RETURN_IF_ERROR(k.status());
  c.SetOutput(0, y);
  return absl::OkStatus();
}

absl::Status EqualText(NodeContext& c) {
  if (c.storage(0) != StorageType::kText ||
      c.storage(1) != StorageType::kText) {
    return c.Error("compares text with something else");
  }
  Compose k(c);
  const Value a = k.Take(c.StoredInput(0)), b = k.Take(c.StoredInput(1));
  const Value y = TextsEqual(k, a, b);
  INGOT_RETURN_IF_ERROR(k.status());
  c.SetOutput(0, y);
  return absl::OkStatus();
}

// Equal, of text as well as of what `numbers` compares.
Converter EqualOr(const Converter& numbers) {
  return [numbers](NodeContext& c) -> absl::Status {
    const bool text = c.storage(0) == StorageType::kText ||
                      c.storage(1) == StorageType::kText;
    return text ? EqualText(c) : numbers(c);
  };
}

}  // namespace

void AddTextConverters(ConverterTable* t) {
  t->Replace("Equal", EqualOr(*t->Find("", "Equal")));
  t->Add("RegexFullMatch", 20, &RegexFullMatch);
  t->Add("StringConcat", 20, &StringConcat);
  t->Add("StringNormalizer", 10, &StringNormalizer);
  t->Add("StringSplit", 20, &StringSplit);
  t->Add("TfIdfVectorizer", 9, &TfIdfVectorizer);
}

}  // namespace ingot::onnx_frontend
