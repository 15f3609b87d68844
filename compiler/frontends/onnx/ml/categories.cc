// Elements that are looked up in a list of keys or categories.
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/model/tensor_proto.h"
#include "compiler/frontends/onnx/text/text_moves.h"

namespace ingot::onnx_frontend {
namespace {

// Keys or values, in their order: strings, or else numbers.
struct Column {
  bool is_text = false;
  std::vector<std::string> strings;
  Tensor numbers;  // rank 1

  int64_t count() const {
    return is_text ? static_cast<int64_t>(strings.size())
                   : numbers.NumElements();
  }
};

// The strings of a tensor of text, without the zeros after each.
std::vector<std::string> StringsOf(const Tensor& text) {
  std::vector<std::string> strings;
  const int64_t width = text.shape().back();
  const char* bytes = static_cast<const char*>(text.raw_data());
  for (int64_t at = 0; at < text.NumElements(); at += width) {
    std::string s(bytes + at, static_cast<size_t>(width));
    while (!s.empty() && s.back() == '\0') s.pop_back();
    strings.push_back(std::move(s));
  }
  return strings;
}

Column OfStrings(std::vector<std::string> strings) {
  Column column;
  column.is_text = true;
  column.strings = std::move(strings);
  return column;
}

template <typename T>
absl::StatusOr<Column> OfNumbers(DataType dtype, const std::vector<T>& values) {
  Column column;
  INGOT_ASSIGN_OR_RETURN(
      column.numbers,
      MakeTensor<T>(dtype, {static_cast<int64_t>(values.size())}, values));
  return column;
}

absl::StatusOr<Column> OfTensor(NodeContext& c, absl::string_view name) {
  StorageType storage = StorageType::kNone;
  INGOT_ASSIGN_OR_RETURN(const Tensor tensor, c.TensorAttr(name, &storage));
  if (storage == StorageType::kText) return OfStrings(StringsOf(tensor));
  if (storage != StorageType::kNone) {
    return c.NotSupported("'", name, "' of type ", relay::ToString(storage));
  }
  Column column;
  INGOT_ASSIGN_OR_RETURN(column.numbers,
                         tensor.Reshape({tensor.NumElements()}));
  return column;
}

std::vector<float> AsFloats(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

std::vector<int64_t> FirstNumbers(size_t count) {
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < count; ++i) {
    numbers.push_back(static_cast<int64_t>(i));
  }
  return numbers;
}

// The attribute of several whose name begins with `stem`, "keys" or "values".
absl::StatusOr<Column> ReadColumn(NodeContext& c, const std::string& stem) {
  const std::string longs = stem + "_int64s", floats = stem + "_floats";
  const std::string strings = stem + "_strings", tensor = stem + "_tensor";
  if (c.has_attr(longs)) return OfNumbers(DataType::Int(64), c.Ints(longs));
  if (c.has_attr(floats)) {
    return OfNumbers(DataType::Float(32), AsFloats(c.Floats(floats)));
  }
  if (c.has_attr(strings)) return OfStrings(c.Strings(strings));
  if (c.has_attr(tensor)) return OfTensor(c, tensor);
  return c.Error("has no ", stem);
}

// Reads the value of elements that are no keys, of the type of `values`.
absl::StatusOr<Column> ReadDefault(NodeContext& c, const Column& values) {
  if (c.has_attr("default_tensor")) return OfTensor(c, "default_tensor");
  if (values.is_text) {
    return OfStrings({c.String("default_string", "_Unused")});
  }
  const DataType dtype = values.numbers.dtype();
  if (dtype == DataType::Int(64)) {
    return OfNumbers<int64_t>(dtype, {c.Int("default_int64", -1)});
  }
  if (dtype == DataType::Float(32)) {
    return OfNumbers<float>(
        dtype, {static_cast<float>(c.Float("default_float", -0.0))});
  }
  return c.Error("has no default_tensor");
}

// Whether x[...] is each of the keys: [..., keys].
absl::StatusOr<Value> IsKey(Compose& k, Value x, bool is_text,
                            const Column& keys) {
  NodeContext& c = k.context();
  Shape shape = ShapeOf(x);
  shape.insert(shape.end() - (is_text ? 1 : 0), tir::MakeInt(1));
  if (is_text != keys.is_text ||
      (!is_text && x.type().dtype != keys.numbers.dtype())) {
    return c.Error("the keys have another type than the operand, ",
                   relay::ToString(x.type()));
  }
  x = k.Reshape(x, shape);
  if (is_text) return TextsEqual(k, x, TextConstant(k, keys.strings));
  const Value list = k.Constant(keys.numbers);
  const Value same = k.Call("equal", {x, list});
  if (!keys.numbers.dtype().is_float()) return same;
  // A NaN may be a key.
  return k.Call("logical_or",
                {same, k.Call("logical_and", {k.Call("is_nan", {x}),
                                              k.Call("is_nan", {list})})});
}

// The values, and the default after them, at places from 0 on.
absl::StatusOr<Value> ValuesAt(Compose& k, Column values,
                               const Column& otherwise, Value places) {
  if (values.is_text != otherwise.is_text || otherwise.count() != 1 ||
      (!values.is_text &&
       values.numbers.dtype() != otherwise.numbers.dtype())) {
    return k.context().Error("the default is not one of the values' type");
  }
  Value list;
  if (values.is_text) {
    values.strings.push_back(otherwise.strings[0]);
    list = TextConstant(k, values.strings);
  } else {
    list = k.Concat({k.Constant(values.numbers), k.Constant(otherwise.numbers)},
                    0);
  }
  return k.Call("gather", {list, places});
}

// Operand 0, whose elements are numbers or text.
absl::StatusOr<Value> Elements(NodeContext& c, bool* is_text) {
  *is_text = c.storage(0) == StorageType::kText;
  if (!*is_text && c.storage(0) != StorageType::kNone) {
    return c.NotSupported("elements of type ", relay::ToString(c.storage(0)));
  }
  return c.StoredInput(0);
}

// Each key in operand 0 becomes its value; of equal keys the first counts.
absl::Status MapElements(NodeContext& c, const Column& keys,
                         const Column& values) {
  bool is_text;
  INGOT_ASSIGN_OR_RETURN(const Value x, Elements(c, &is_text));
  if (keys.count() != values.count() || keys.count() == 0) {
    return c.Error("has ", keys.count(), " keys and ", values.count(),
                   " values");
  }
  INGOT_ASSIGN_OR_RETURN(const Column otherwise, ReadDefault(c, values));
  Compose k(c);
  INGOT_ASSIGN_OR_RETURN(const Value is_key, IsKey(k, x, is_text, keys));
  INGOT_RETURN_IF_ERROR(k.status());
  const int last = RankOf(is_key) - 1;
  const Value matches = k.Cast(is_key, DataType::UInt(8));
  Attrs attrs;
  attrs.Set("axis", int64_t{last});
  attrs.Set("keepdims", int64_t{0});
  const Value first = k.Call("argmax", {matches}, std::move(attrs));
  const Value found =
      k.Cast(k.Reduce("reduce_max", matches, {last}, /*keepdims=*/false),
             DataType::Bool());
  const Value place =
      k.Call("where",
             {found, first, k.Like(first, static_cast<double>(keys.count()))});
  INGOT_ASSIGN_OR_RETURN(const Value y, ValuesAt(k, values, otherwise, place));
  INGOT_RETURN_IF_ERROR(k.status());
  c.SetStoredOutput(0, y,
                    values.is_text ? StorageType::kText : StorageType::kNone);
  return absl::OkStatus();
}

// Strings as numbers, or numbers as strings, whichever operand 0 has.
absl::Status MapEitherWay(NodeContext& c, const Column& strings,
                          const Column& numbers) {
  return c.storage(0) == StorageType::kText ? MapElements(c, strings, numbers)
                                            : MapElements(c, numbers, strings);
}

absl::Status LabelEncoder(NodeContext& c) {
  if (c.opset() == 1) {  // strings as their places in a list, or the reverse
    const Column strings = OfStrings(c.Strings("classes_strings"));
    INGOT_ASSIGN_OR_RETURN(
        const Column numbers,
        OfNumbers(DataType::Int(64), FirstNumbers(strings.strings.size())));
    return MapEitherWay(c, strings, numbers);
  }
  INGOT_ASSIGN_OR_RETURN(const Column keys, ReadColumn(c, "keys"));
  INGOT_ASSIGN_OR_RETURN(const Column values, ReadColumn(c, "values"));
  return MapElements(c, keys, values);
}

absl::Status CategoryMapper(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(const Column numbers,
                         OfNumbers(DataType::Int(64), c.Ints("cats_int64s")));
  return MapEitherWay(c, OfStrings(c.Strings("cats_strings")), numbers);
}

// Whether each element is each of the categories: 1 or 0 in one dimension more.
absl::Status OneHotEncoder(NodeContext& c) {
  bool is_text;
  INGOT_ASSIGN_OR_RETURN(Value x, Elements(c, &is_text));
  Column categories = OfStrings(c.Strings("cats_strings"));
  const std::vector<int64_t> numbers = c.Ints("cats_int64s");
  if (categories.strings.empty()) {
    INGOT_ASSIGN_OR_RETURN(categories, OfNumbers(DataType::Int(64), numbers));
  } else if (!numbers.empty()) {
    return c.Error("has both strings and integers for categories");
  }
  const std::set<std::string> strings(categories.strings.begin(),
                                      categories.strings.end());
  const std::set<int64_t> integers(numbers.begin(), numbers.end());
  if (categories.count() == 0) return c.Error("has no categories");
  if (categories.count() !=
      static_cast<int64_t>(strings.size() + integers.size())) {
    return c.Error("one of its categories is there twice");
  }
  Compose k(c);
  if (!is_text) x = k.Cast(x, DataType::Int(64));
  INGOT_RETURN_IF_ERROR(k.status());
  INGOT_ASSIGN_OR_RETURN(const Value same, IsKey(k, x, is_text, categories));
  c.SetOutput(0, k.Cast(same, DataType::Float(32)));
  INGOT_RETURN_IF_ERROR(k.status());
  if (c.Int("zeros", 1) == 0) {
    c.Warn(
        "gives zeros for an element that is none of its categories, where "
        "zeros=0 asks that the run fail");
  }
  return absl::OkStatus();
}

}  // namespace

void AddCategoriesConverters(ConverterTable* t) {
  t->Add("CategoryMapper", 1, &CategoryMapper, kMlDomain);
  t->Add("LabelEncoder", 1, &LabelEncoder, kMlDomain);
  t->Add("OneHotEncoder", 1, &OneHotEncoder, kMlDomain);
}

}  // namespace ingot::onnx_frontend
