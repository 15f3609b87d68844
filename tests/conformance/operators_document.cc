#include "tests/conformance/operators_document.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "artifact/blob.h"
#include "compiler/frontends/onnx/import.h"
#include "compiler/frontends/onnx/operators.h"
#include "onnx/onnx.pb.h"
#include "tests/conformance/expected_failures.h"
#include "tests/conformance/onnx_case.h"

namespace ingot {
namespace {

struct ElementType {
  const char* name;
  int onnx;
};

constexpr ElementType kTypes[] = {
    {"f16", onnx::TensorProto::FLOAT16}, {"bf16", onnx::TensorProto::BFLOAT16},
    {"f32", onnx::TensorProto::FLOAT},   {"f64", onnx::TensorProto::DOUBLE},
    {"i8", onnx::TensorProto::INT8},     {"i16", onnx::TensorProto::INT16},
    {"i32", onnx::TensorProto::INT32},   {"i64", onnx::TensorProto::INT64},
    {"u8", onnx::TensorProto::UINT8},    {"u16", onnx::TensorProto::UINT16},
    {"u32", onnx::TensorProto::UINT32},  {"u64", onnx::TensorProto::UINT64},
    {"bool", onnx::TensorProto::BOOL}};

// The evidence of ONNX's cases for one operator.
struct Evidence {
  int cases = 0, passing = 0;
  std::set<int> types;  // indices into kTypes
};

// Whether the model is taken with `type` where its first input's is.
bool TakesType(const onnx::ModelProto& original, int type) {
  onnx::ModelProto model = original;
  onnx::GraphProto& graph = *model.mutable_graph();
  const int first =
      TensorTypeOf(graph.mutable_input(0)->mutable_type())->elem_type();
  for (onnx::ValueInfoProto& input : *graph.mutable_input()) {
    auto* tensor = TensorTypeOf(input.mutable_type());
    if (tensor->elem_type() == first) tensor->set_elem_type(type);
  }
  return ImportOnnx(Blob::FromString(model.SerializeAsString())).ok();
}

void Count(absl::string_view key, const ExpectedFailures& expected,
           Evidence* e) {
  ++e->cases;
  e->passing += expected.Reason("llvm", key) == nullptr;
}

// "5 of 6".
std::string CasesOf(const Evidence& e) {
  return e.cases == 0 ? "" : absl::StrCat(e.passing, " of ", e.cases);
}

absl::Status Collect(absl::string_view folder, const OnnxCase& c,
                     const ExpectedFailures& expected,
                     std::map<std::string, Evidence>* evidence) {
  absl::StatusOr<Blob> bytes = Blob::MapFile(c.model_path);
  if (!bytes.ok()) return bytes.status();
  onnx::ModelProto model;
  if (!model.ParseFromArray(bytes->data(), static_cast<int>(bytes->size()))) {
    return absl::DataLossError(absl::StrCat(c.model_path, " is damaged"));
  }
  const onnx::GraphProto& graph = model.graph();
  if (graph.node_size() != 1) return absl::OkStatus();
  const onnx::NodeProto& node = graph.node(0);
  Evidence& e = (*evidence)[absl::StrCat(node.domain(), "/", node.op_type())];
  Count(absl::StrCat(folder, "/", c.name), expected, &e);
  absl::StatusOr<std::vector<OnnxDataSet>> sets = ReadDataSets(c);
  if (!sets.ok() || sets->empty() || graph.input_size() == 0) {
    return absl::OkStatus();
  }
  for (size_t t = 0; t < std::size(kTypes); ++t) {
    if (e.types.count(static_cast<int>(t)) > 0) continue;
    if (TakesType(model, kTypes[t].onnx)) {
      e.types.insert(static_cast<int>(t));
    }
  }
  return absl::OkStatus();
}

// "all", or the types' names.
std::string TypesOf(const Evidence& e) {
  if (e.types.size() == std::size(kTypes)) return "all";
  std::vector<std::string> names;
  for (int t : e.types) names.push_back(kTypes[t].name);
  return absl::StrJoin(names, " ");
}

constexpr char kHead[] =
    R"(# Operators

What the ONNX importer takes. The tables are made by a program from the list of converters and from ONNX's own test cases;
`bazel test //tests/conformance:operators_document_test` says how to make them again when they no longer fit.

- **Since** is the operator set that the operator came with. Ingot reads operator sets 1 to )";

constexpr char kHeadEnd[] = R"(, with the meaning that each of
  them gives to an operator, and newer ones, with a warning, as that newest one. An operator that is known to change in a newer
  set is refused there.
- **Types** are those of the first operand with which ONNX's cases of the operator are taken; what is left empty has no such
  case, and is tested with f32 beside its converter.
- **Cases** counts ONNX's cases that consist of this operator alone, and how many of them pass as their files are when they are
  compiled for `llvm`.

)";

constexpr char kCarried[] =
    R"(Four kinds of elements have no type of their own, and are carried in another, also as inputs and outputs of a compiled model:

| ONNX | Carried as | Taken by |
| --- | --- | --- |
| string | u8, with one dimension more: the UTF-8 bytes of each string, followed by zeros up to the longest | Cast, CastLike, CategoryMapper, Constant, Equal, LabelEncoder, OneHotEncoder, RegexFullMatch, Shape, Size, StringConcat, StringNormalizer, StringSplit, TfIdfVectorizer, Identity and what moves elements: ArrayFeatureExtractor, Compress, Concat, Expand, Flatten, Gather, GatherElements, GatherND, Reshape, ReverseSequence, Scatter, ScatterElements, ScatterND, Slice, Split, Squeeze, Tile, Transpose, Unsqueeze, Where |
| float8e4m3fn, float8e4m3fnuz, float8e5m2, float8e5m2fnuz, float8e8m0 | u8, the byte itself | BitCast, Cast, CastLike, Constant, ConstantOfShape, IsInf, IsNaN, QuantizeLinear, DequantizeLinear, Shape, Size, Identity and what moves elements: Concat, Expand, Flatten, Gather, Pad, Reshape, Slice, Split, Squeeze, TensorScatter, Tile, Transpose, Unsqueeze |
| float4e2m1 | u8, the code: one to a byte | the same |
| uint4, int4, uint2, int2 | u8, i8, u8, i8: one to a byte | the same but IsInf and IsNaN |

`ImageDecoder` is done by the target `image`, which has the libraries that read images; it need not be named.

Where ONNX's specification leaves room, or ONNX Runtime does not do what it says:

- ConvTranspose with `auto_pad=SAME_UPPER` or `SAME_LOWER` gives the input's extents times the strides, as the specification
  says. Where a kernel is shorter than its stride zeros make up for it at the end, as in TensorFlow; ONNX Runtime, which does
  the same for an `output_shape`, leaves the last zeros out, and ONNX's reference puts some in front.
- LSTM applies `clip` to whatever an activation is applied to, as the specification says. ONNX Runtime does not limit the cell
  that the last activation is applied to.
- The indices of MaxPool are those of the first of equal elements along the rows, also where `storage_order=1` counts columns
  first, as in ONNX's reference and ONNX Runtime.
- The `activation_alpha` and `activation_beta` of GRU, LSTM and RNN are one sequence over both directions, from which each
  activation takes as many values as it has parameters, as in ONNX Runtime.
- RoiAlign with `mode=max` gives the largest of the pixels around its samples, each times its weight, as ONNX's reference and
  ONNX Runtime do; by the specification it would be the largest of the interpolated samples.
- DynamicQuantizeLinear of nothing but zeros gives the scale 1, as in ONNX Runtime; by the formula it would be 0.
- Cast to uint4, int4, uint2 and int2 cuts fractions off and keeps the low bits, as in ONNX's cases since operator set 24;
  QuantizeLinear rounds and gives the nearest number that there is. Cast to float8e8m0 does not look at signs, as in ONNX's
  reference.
- DynamicQuantizeLSTM is computed in floats from the weights that its bytes stand for; ONNX Runtime also rounds each step's
  operands to bytes. MoE and QMoE read the weights of those experts alone that a row goes through.
- Squeeze without axes, and If with branches of different rank, may give a result whose rank only a run knows. Such a model
  compiles where its own results have one rank all the same (and Squeeze is asked about three dimensions at most), or with the
  inputs' shapes given: `--input-shape`. The nodes that follow are then there twice, or for each answer about the dimensions.
- ReduceMean of nothing, which the specification leaves undefined, is a NaN, as in numpy and PyTorch, and 0 of integers. ONNX
  Runtime gives 0 in both cases.
- QLinearAveragePool with `count_include_pad` divides by the elements and paddings in a window, as AveragePool does; ONNX
  Runtime also counts what `ceil_mode` lets a window reach beyond the paddings, in this operator alone.
- Range of floats counts as ONNX's function does, whose difference and quotient are floats: 10 from 0.1 to 1.1 by 0.1, as numpy
  and PyTorch. ONNX Runtime gives 11.
- Maps are no values of a compiled function. ZipMap, which exporters of scikit-learn's models put behind a classifier, gives
  the scores that it reads: a tensor with a row for each map and a column for each key, which a warning names. An input that is
  a map is refused, and so are DictVectorizer and CastMap, which read them: they are left out of the model, and the tensor that
  they make is its input.
- OneHotEncoder with `zeros=0` gives zeros for an element that is none of the categories, with a warning when it is imported,
  where a run of ONNX Runtime fails.
- LinearRegressor, SVMRegressor and the ensembles of trees leave a single score as it is, whatever `post_transform` but PROBIT,
  as ONNX Runtime does. Where a classifier has one score for two classes, LOGISTIC applies to it and to its negative.
- TreeEnsembleClassifier gives the label of the largest score where leaves have votes for both of two classes, as ONNX's
  reference does; ONNX Runtime gives 1 wherever the second score is positive, and takes `base_values` of two classes for those
  of the second alone. It also forgets those of a TreeEnsembleRegressor's target that no leaf has votes for.
- TreeEnsemble's `post_transform` 1 is SOFTMAX and 2 is LOGISTIC, as the specification numbers them; ONNX Runtime has them the
  other way round.
)";

}  // namespace

absl::StatusOr<std::string> OperatorsDocument() {
  absl::StatusOr<ExpectedFailures> expected =
      ExpectedFailures::Read("tests/conformance/expected_failures.txt");
  if (!expected.ok()) return expected.status();
  std::map<std::string, Evidence> evidence;
  Evidence all;
  for (const char* folder :
       {"node", "pytorch-converted", "pytorch-operator", "simple"}) {
    absl::StatusOr<std::vector<OnnxCase>> cases =
        FindOnnxCases(absl::StrCat("external/onnx_testdata/data/", folder));
    if (!cases.ok()) return cases.status();
    for (const OnnxCase& c : *cases) {
      Count(absl::StrCat(folder, "/", c.name), *expected, &all);
      absl::Status status = Collect(folder, c, *expected, &evidence);
      if (!status.ok()) return status;
    }
  }

  std::string text = absl::StrCat(
      kHead, NewestOnnxOpset(), kHeadEnd, "Of all ", all.cases,
      " cases, those of several operators too, ", all.passing,
      " pass as their files are.\n`tests/conformance/expected_failures.txt` "
      "gives the reason for each of the others.\nA folder of such cases, of "
      "any operator set, is run through the command by\n`bazel run "
      "//tests/conformance:verify_cases -- FOLDER --target=llvm`.\n\n",
      kCarried);
  std::string domain = "none";
  for (const OnnxOperator& op : ImportedOperators()) {
    if (op.domain != domain) {
      domain = op.domain;
      absl::StrAppend(&text, "\n## ",
                      domain.empty() ? "ai.onnx, ONNX's own" : domain,
                      "\n\n| Operator | Since | Types | Cases |\n",
                      "| --- | --- | --- | --- |\n");
    }
    const Evidence& e = evidence[absl::StrCat(op.domain, "/", op.name)];
    absl::StrAppend(&text, "| ", op.name, " | ",
                    op.since == 0 ? "" : absl::StrCat(op.since), " | ",
                    TypesOf(e), " | ", CasesOf(e), " |\n");
  }
  return text;
}

}  // namespace ingot
