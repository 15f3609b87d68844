// Every operator that is imported, with operands and attributes that no
// exporter writes: scalars where matrices belong, empty tensors, operands that
// are left out, numbers that no computer can hold. Importing such a node ends
// in a module that verifies or in an error of the user's, never in a crash.
// INGOT_HOSTILE_SEED and INGOT_HOSTILE_ROUNDS ask for more.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/import.h"
#include "compiler/frontends/onnx/operators.h"
#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/relay/verifier.h"
#include "gtest/gtest.h"

namespace ingot::onnx_frontend {
namespace {

using onnx::TensorProto;

constexpr char kMicrosoftDomain[] = "com.microsoft";

// Every attribute that a converter reads.
constexpr const char* kInt[] = {"K",
                                "N",
                                "align_corners",
                                "allowzero",
                                "antialias",
                                "axis",
                                "batch_axis",
                                "batch_dims",
                                "bits",
                                "block_size",
                                "blocksize",
                                "broadcast",
                                "ceil_mode",
                                "center_point_box",
                                "channels_last",
                                "count_include_pad",
                                "detect_negative",
                                "dilation",
                                "do_rotary",
                                "dtype",
                                "end",
                                "exclude_outside",
                                "exclusive",
                                "fmod",
                                "group",
                                "hidden_size",
                                "ignore_index",
                                "input_forget",
                                "interleaved",
                                "inverse",
                                "is_case_sensitive",
                                "is_causal",
                                "is_inner_broadcast",
                                "k",
                                "keepdims",
                                "kv_num_heads",
                                "largest",
                                "layout",
                                "linear_before_reset",
                                "max_gram_length",
                                "max_skip_count",
                                "maxsplit",
                                "min_gram_length",
                                "new_axis",
                                "noop_with_empty_axes",
                                "num_groups",
                                "mrope_layout",
                                "n_supports",
                                "n_targets",
                                "num_heads",
                                "num_outputs",
                                "num_scan_inputs",
                                "offset_group",
                                "onesided",
                                "output_datatype",
                                "output_dtype",
                                "output_height",
                                "output_width",
                                "p",
                                "periodic",
                                "q_num_heads",
                                "qk_matmul_output_mode",
                                "reverse",
                                "rotary_embedding_dim",
                                "sample_size",
                                "sampling_ratio",
                                "saturate",
                                "select_last_index",
                                "size",
                                "softmax_precision",
                                "sorted",
                                "targets",
                                "spatial",
                                "start",
                                "storage_order",
                                "time_axis",
                                "to",
                                "training_mode",
                                "transA",
                                "transB",
                                "transBatchA",
                                "transBatchB",
                                "unidirectional",
                                "upper",
                                "value_int"};
constexpr const char* kInts[] = {"axes",
                                 "cats_int64s",
                                 "class_ids",
                                 "classlabels_int64s",
                                 "classlabels_ints",
                                 "dilations",
                                 "ends",
                                 "imputed_value_int64s",
                                 "inputdimensions",
                                 "kernel_shape",
                                 "mrope_section",
                                 "ngram_counts",
                                 "ngram_indexes",
                                 "output_padding",
                                 "output_shape",
                                 "pads",
                                 "perm",
                                 "pool_int64s",
                                 "pooled_shape",
                                 "qkv_hidden_sizes",
                                 "scan_input_axes",
                                 "scan_input_directions",
                                 "scan_output_axes",
                                 "shape",
                                 "split",
                                 "starts",
                                 "strides",
                                 "value_ints",
                                 "vectors_per_class"};
constexpr const char* kFloat[] = {
    "alpha", "beta",    "clip",  "cubic_coeff_a", "epsilon",      "scale",
    "seed",  "softcap", "value", "high",          "spatial_scale"};
constexpr const char* kFloats[] = {"activation_alpha",
                                   "activation_params",
                                   "base_values",
                                   "coefficients",
                                   "imputed_value_floats",
                                   "intercepts",
                                   "kernel_params",
                                   "offset",
                                   "prob_a",
                                   "prob_b",
                                   "rho",
                                   "scale",
                                   "scales",
                                   "support_vectors",
                                   "value_floats",
                                   "weights"};
constexpr const char* kLists[] = {"cats_strings", "classlabels_strings",
                                  "nodes_modes", "keys_strings"};
struct Words {
  const char* name;
  std::vector<const char*> values;
};
const std::vector<Words>& Strings() {
  static const auto* strings = new std::vector<Words>{
      {"activation", {"Relu", "Clip", "HardSigmoid", "silu", ""}},
      {"approximate", {"tanh", "none"}},
      {"auto_pad", {"SAME_UPPER", "SAME_LOWER", "VALID", "?"}},
      {"case_change_action", {"LOWER", "UPPER"}},
      {"coordinate_transformation_mode",
       {"align_corners", "tf_crop_and_resize", "asymmetric"}},
      {"delimiter", {"", ","}},
      {"direction", {"bidirectional", "reverse", "LEFT", "RIGHT"}},
      {"equation", {"ij,jk->ik", "...ij->...ji", "ii->i", "->", "i", ",,"}},
      {"kernel_type", {"LINEAR", "RBF", "POLY", "SIGMOID"}},
      {"keep_aspect_ratio_policy", {"not_larger", "not_smaller"}},
      {"metric", {"euclidean", "sqeuclidean", "?"}},
      {"mode",
       {"linear", "cubic", "nearest", "reflect", "edge", "wrap", "TF", "IDF",
        "max", "CRD", "nesterov"}},
      {"nearest_mode", {"ceil", "floor"}},
      {"norm", {"MAX", "L1", "L2"}},
      {"padding_mode", {"border", "reflection"}},
      {"pattern", {"a*", "(", ""}},
      {"post_transform", {"SOFTMAX", "LOGISTIC", "PROBIT", "?"}},
      {"reduction", {"add", "none", "sum"}}};
  return *strings;
}

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kNumbers[] = {0,
                                1,
                                1,
                                2,
                                2,
                                3,
                                4,
                                8,
                                -1,
                                -2,
                                5,
                                16,
                                64,
                                -100,
                                1 << 16,
                                int64_t{1} << 31,
                                int64_t{1} << 40,
                                int64_t{1} << 62,
                                kMost,
                                kLeast};

// Dimensions; negative ones are symbols.
const std::vector<std::vector<int64_t>>& Shapes() {
  static const auto* shapes = new std::vector<std::vector<int64_t>>{
      {},
      {1},
      {0},
      {3},
      {-1},
      {1, 4},
      {2, 0},
      {-1, 4},
      {4, 4},
      {1, 1, 1},
      {2, 3, 4},
      {1, 12, 4},
      {1, 16, 4},
      {-1, -2, -3},
      {1, 2, 5, 5},
      {0, 2, 3, 3},
      {2, 2, 3, 3},
      {1, 2, 3, 3, 3},
      {2, 1, 1, 1, 1, 1, 1, 1, 2},
      {-1, 2, -2, -2},
      {int64_t{1} << 40},
      {1, int64_t{1} << 30, int64_t{1} << 32},
      {int64_t{1} << 40, 2, int64_t{1} << 20, 3}};
  return *shapes;
}

constexpr int kTypes[] = {
    TensorProto::FLOAT, TensorProto::FLOAT,   TensorProto::INT64,
    TensorProto::INT64, TensorProto::INT32,   TensorProto::UINT8,
    TensorProto::BOOL,  TensorProto::FLOAT16, TensorProto::STRING};

// Said where a signal ends the test.
char current[256];

void SayWhich(int signal) {
  std::fprintf(stderr, "signal %d while importing %s\n", signal, current);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

class Maker {
 public:
  explicit Maker(uint32_t seed) : random_(seed) {}

  size_t Pick(size_t n) { return random_() % n; }
  template <typename T>
  const auto& Of(const T& list) {
    return *(std::begin(list) + Pick(std::size(list)));
  }

  void Operand(ModelBuilder* b, const std::string& name, int type,
               const std::vector<int64_t>& shape, bool constant) {
    int64_t count = 1;
    for (int64_t d : shape) count = d < 0 || d > 64 ? 1 << 20 : count * d;
    if (!constant || count > 256 || type == TensorProto::STRING) {
      std::vector<std::string> dims;
      for (int64_t d : shape) {
        dims.push_back(d < 0 ? absl::StrCat("s", -d) : absl::StrCat(d));
      }
      b->Input(name, dims, type);
      return;
    }
    TensorProto* t = b->graph().add_initializer();
    t->set_name(name);
    t->set_data_type(type);
    for (int64_t d : shape) t->add_dims(d);
    for (int64_t i = 0; i < count; ++i) {
      if (type == TensorProto::FLOAT) {
        t->add_float_data(static_cast<float>(Of(kNumbers)));
      } else if (type == TensorProto::INT64) {
        t->add_int64_data(Of(kNumbers));
      } else {
        t->add_int32_data(static_cast<int32_t>(Pick(4)));
      }
    }
  }

  void Attributes(onnx::NodeProto* node) {
    for (size_t i = Pick(6); i > 0; --i) SetInt(node, Of(kInt), Of(kNumbers));
    for (size_t i = Pick(5); i > 0; --i) {
      std::vector<int64_t> values;
      for (size_t k = Pick(5); k > 0; --k) values.push_back(Of(kNumbers));
      SetInts(node, Of(kInts), values);
    }
    for (size_t i = Pick(3); i > 0; --i) {
      SetFloat(node, Of(kFloat), static_cast<float>(Of(kNumbers)));
    }
    if (Pick(4) == 0) {
      auto* a = node->add_attribute();
      a->set_name(Of(kFloats));
      a->set_type(onnx::AttributeProto::FLOATS);
      for (size_t k = Pick(5); k > 0; --k) {
        a->add_floats(static_cast<float>(Of(kNumbers)));
      }
    }
    if (Pick(8) == 0) {
      SetStrings(node, Of(kLists), std::vector<std::string>(Pick(4), "LEAF"));
    }
    for (size_t i = Pick(3); i > 0; --i) {
      const Words& words = Of(Strings());
      SetString(node, words.name, Of(words.values));
    }
  }

 private:
  std::mt19937 random_;
};

class HostileOperatorsTest : public testing::Test {
 protected:
  void SetUp() override {
    for (int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL}) {
      std::signal(signal, &SayWhich);
    }
  }

  ModelBuilder Start(const OnnxOperator& op, int opset) {
    ModelBuilder b(op.domain.empty() ? opset : 21);
    if (!op.domain.empty()) b.Domain(op.domain, 1);
    return b;
  }

  // Imports the model of one node, whose operands are there.
  void Check(const OnnxOperator& op, ModelBuilder* b, onnx::NodeProto* node,
             const std::string& what) {
    node->set_domain(op.domain);
    for (const std::string& output : node->output()) b->Output(output);
    std::snprintf(current, sizeof(current), "%s %s", op.name.c_str(),
                  what.c_str());
    SCOPED_TRACE(current);
    absl::StatusOr<relay::Module> module = absl::UnknownError("it throws");
    EXPECT_NO_THROW(module = ImportOnnx(b->Build()));
    if (!module.ok()) {
      ++refused_;
      EXPECT_FALSE(absl::IsInternal(module.status())) << module.status();
      return;
    }
    ++imported_;
    const absl::Status status = relay::Verify(*module);
    EXPECT_TRUE(status.ok()) << status;
  }

  int imported_ = 0, refused_ = 0;
};

std::vector<std::string> Names(const char* stem, size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back(absl::StrCat(stem, i));
  return names;
}

// As many operands as an operator may have, all alike.
TEST_F(HostileOperatorsTest, OperandsOfEveryRank) {
  Maker maker(1);
  for (const OnnxOperator& op : ImportedOperators()) {
    for (const std::vector<int64_t>& shape : Shapes()) {
      for (int type : {TensorProto::FLOAT, TensorProto::INT64,
                       TensorProto::UINT8, TensorProto::STRING}) {
        for (size_t count = 0; count <= 8; ++count) {
          const bool constant = count % 2 == 1;
          ModelBuilder b = Start(op, 22);
          const std::vector<std::string> names = Names("in", count);
          for (const std::string& name : names) {
            maker.Operand(&b, name, type, shape, constant);
          }
          Check(op, &b, b.Node(op.name, names, {"out"}),
                absl::StrCat(count, " times type ", type, " shape ",
                             testing::PrintToString(shape)));
        }
      }
    }
  }
  std::printf("%d imported, %d refused\n", imported_, refused_);
}

// Ranks that only some operands may have, and only in company: what crashed the
// importer once.
TEST_F(HostileOperatorsTest, OneOddOperand) {
  using Dims = std::vector<int64_t>;
  struct Case {
    OnnxOperator op;
    std::vector<Dims> operands;  // of floats; {-9}: left out
    std::vector<std::pair<const char*, int64_t>> attributes;
  };
  const Dims none = {-9}, words = {1, 2, 4}, past = {1, 2, 3, 2};
  const OnnxOperator heads{kMicrosoftDomain, "MultiHeadAttention"};
  const OnnxOperator rotary{kMicrosoftDomain, "RotaryEmbedding"};
  const std::vector<Case> cases = {
      {heads,
       {words, words, words, none, none, none, {}, past},
       {{"num_heads", 2}}},
      {heads,
       {words, words, words, none, none, none, {3}, {3}},
       {{"num_heads", 2}}},
      {heads,
       {words, words, words, none, none, none, past, {}},
       {{"num_heads", 2}}},
      {heads, {words, words, words, {}}, {{"num_heads", 2}}},
      {heads, {words, words, words, none, {}}, {{"num_heads", 2}}},
      {heads, {words, words, words, none, none, {}}, {{"num_heads", 2}}},
      {rotary, {words, none, {}, {}}, {}},
      {rotary, {words, none, {4}, {4}}, {}},
      {rotary, {words, {}, {8, 2}, {}}, {{"num_heads", 2}}},
      {{"", "RotaryEmbedding"}, {words, {}, {}, {}}, {{"num_heads", 0}}},
      {{"", "Col2Im"}, {{1, int64_t{1} << 40, 1}, {1}, {1}}, {}},
      {{"", "QLinearMatMul"}, {{4}, {3}, {}, {4}, {3}, {}, {3}, {}}, {}},
      {{"", "LSTM"},
       {{2, 1, 4}, {1, -1, -2}, {1, -1, -2}},
       {{"hidden_size", int64_t{1} << 60}}},
      {{"", "GRU"},
       {{2, 1, 4}, {1, -1, -2}, {1, -1, -2}},
       {{"hidden_size", kMost}}},
  };
  for (const Case& test : cases) {
    ModelBuilder b = Start(test.op, 23);
    std::vector<std::string> names = Names("in", test.operands.size());
    for (size_t i = 0; i < names.size(); ++i) {
      if (test.operands[i] == none) {
        names[i].clear();
        continue;
      }
      Maker(1).Operand(&b, names[i], TensorProto::FLOAT, test.operands[i],
                       /*constant=*/false);
    }
    onnx::NodeProto* node = b.Node(test.op.name, names, {"out"});
    for (const auto& [name, value] : test.attributes) {
      SetInt(node, name, value);
    }
    Check(test.op, &b, node, testing::PrintToString(test.operands));
  }
}

int FromEnvironment(const char* name, int otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::atoi(value);
}

// Anything, with any attributes.
TEST_F(HostileOperatorsTest, OddOperandsAndAttributes) {
  const int rounds = FromEnvironment("INGOT_HOSTILE_ROUNDS", 150);
  const int seed = FromEnvironment("INGOT_HOSTILE_SEED", 20261122);
  for (const OnnxOperator& op : ImportedOperators()) {
    for (int round = 0; round < rounds; ++round) {
      // A case is made again by its seed and number alone.
      std::seed_seq sequence{seed, round};
      uint32_t start;
      sequence.generate(&start, &start + 1);
      Maker maker(start);
      ModelBuilder b = Start(
          op, maker.Pick(3) == 0 ? 1 + static_cast<int>(maker.Pick(23)) : 22);
      std::vector<std::string> names = Names("in", maker.Pick(9));
      const bool alike = maker.Pick(2) == 0;
      const int type = maker.Of(kTypes);
      std::vector<int64_t> shape = maker.Of(Shapes());
      for (std::string& name : names) {
        if (maker.Pick(8) == 0) {
          name.clear();
          continue;
        }
        if (maker.Pick(2) == 0) shape = maker.Of(Shapes());
        maker.Operand(&b, name, alike ? type : maker.Of(kTypes), shape,
                      maker.Pick(3) == 0);
      }
      onnx::NodeProto* node =
          b.Node(op.name, names, Names("out", 1 + maker.Pick(3)));
      maker.Attributes(node);
      Check(op, &b, node, absl::StrCat("seed ", seed, " round ", round));
    }
  }
  std::printf("%d imported, %d refused\n", imported_, refused_);
}

}  // namespace
}  // namespace ingot::onnx_frontend
