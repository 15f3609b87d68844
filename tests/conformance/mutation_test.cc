// Damaged models: ONNX's own cases with bytes changed, and with fields changed
// to what a file could hold but no exporter writes. Importing each must end,
// and end in a module that verifies and whose operators can be lowered, or in
// an error. INGOT_MUTATION_SEED and INGOT_MUTATION_ROUNDS ask for more.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "artifact/blob.h"
#include "compiler/frontends/onnx/import.h"
#include "compiler/relay/op.h"
#include "compiler/relay/verifier.h"
#include "compiler/te/lower.h"
#include "compiler/te/schedule.h"
#include "compiler/tir/verifier.h"
#include "gtest/gtest.h"
#include "onnx/onnx.pb.h"
#include "tests/conformance/onnx_case.h"

namespace ingot {
namespace {

class Mutator {
 public:
  explicit Mutator(uint32_t seed) : random_(seed) {}

  uint32_t Pick(size_t n) { return static_cast<uint32_t>(random_() % n); }

  void Bytes(std::string* bytes) {
    for (uint32_t i = 0, n = 1 + Pick(3); i < n && !bytes->empty(); ++i) {
      const size_t at = Pick(bytes->size());
      switch (Pick(6)) {
        case 0:
        case 1:
          (*bytes)[at] = static_cast<char>(random_());
          break;
        case 2:
        case 3:
          (*bytes)[at] = static_cast<char>((*bytes)[at] ^ (1 << Pick(8)));
          break;
        case 4:
          bytes->erase(at, 1 + Pick(4));
          break;
        default:
          bytes->resize(at);
      }
    }
  }

  void Fields(onnx::ModelProto* model) {
    onnx::GraphProto* g = model->mutable_graph();
    for (uint32_t i = 0, n = 1 + Pick(3); i < n; ++i) {
      switch (Pick(8)) {
        case 0:
          if (g->input_size() > 0)
            Input(g->mutable_input(Pick(g->input_size())));
          break;
        case 1:
          model->mutable_opset_import(0)->set_version(1 + Pick(29));
          break;
        case 2:
          if (g->initializer_size() > 0) {
            Initializer(g->mutable_initializer(Pick(g->initializer_size())));
          }
          break;
        default:
          if (g->node_size() > 0)
            Node(g, g->mutable_node(Pick(g->node_size())));
      }
    }
  }

 private:
  int64_t Number() {
    static constexpr int64_t kNumbers[] = {0,
                                           1,
                                           -1,
                                           2,
                                           3,
                                           7,
                                           -2,
                                           100,
                                           -100,
                                           1 << 16,
                                           int64_t{1} << 31,
                                           -(1 << 30),
                                           int64_t{1} << 40,
                                           std::numeric_limits<int64_t>::max(),
                                           std::numeric_limits<int64_t>::min()};
    return kNumbers[Pick(sizeof(kNumbers) / sizeof(kNumbers[0]))];
  }

  void Input(onnx::ValueInfoProto* info) {
    auto* tensor = info->mutable_type()->mutable_tensor_type();
    auto* shape = tensor->mutable_shape();
    switch (Pick(4)) {
      case 0:
        tensor->set_elem_type(static_cast<int>(Pick(17)));
        break;
      case 1:
        shape->add_dim()->set_dim_value(Number());
        break;
      case 2:
        if (shape->dim_size() > 0) {
          shape->mutable_dim(Pick(shape->dim_size()))->set_dim_value(Number());
        }
        break;
      default:
        if (shape->dim_size() > 0) {
          shape->mutable_dim(Pick(shape->dim_size()))->set_dim_param("n");
        }
    }
  }

  void Initializer(onnx::TensorProto* t) {
    switch (Pick(4)) {
      case 0:
        t->set_data_type(static_cast<int>(Pick(20)));
        break;
      case 1:
        t->add_dims(Number());
        break;
      case 2:
        if (t->dims_size() > 0) t->set_dims(Pick(t->dims_size()), Number());
        break;
      default:
        if (t->int64_data_size() > 0) {
          t->set_int64_data(Pick(t->int64_data_size()), Number());
        } else if (t->raw_data().size() >= 8) {
          const int64_t v = Number();
          t->mutable_raw_data()->replace(0, 8,
                                         reinterpret_cast<const char*>(&v), 8);
        }
    }
  }

  void Node(onnx::GraphProto* g, onnx::NodeProto* node) {
    switch (Pick(6)) {
      case 0:
        node->set_op_type(g->node(Pick(g->node_size())).op_type());
        break;
      case 1:
        if (node->input_size() > 0) node->mutable_input()->RemoveLast();
        break;
      case 2:
        if (node->input_size() > 0) {
          node->add_input(node->input(Pick(node->input_size())));
        }
        break;
      case 3:
        if (node->input_size() > 0) {
          node->set_input(Pick(node->input_size()), "");
        }
        break;
      default:
        if (node->attribute_size() > 0) {
          Attribute(node->mutable_attribute(Pick(node->attribute_size())));
        }
    }
  }

  void Attribute(onnx::AttributeProto* a) {
    switch (Pick(5)) {
      case 0:
        a->set_i(Number());
        break;
      case 1:
        if (a->ints_size() > 0) a->set_ints(Pick(a->ints_size()), Number());
        break;
      case 2:
        a->add_ints(Number());
        break;
      case 3:
        a->set_f(static_cast<float>(Number()));
        break;
      default:
        if (a->ints_size() > 0) a->mutable_ints()->RemoveLast();
    }
  }

  std::mt19937 random_;
};

// Makes the loops of one call, as compiling would.
absl::Status LowerNode(const relay::Node& node) {
  if (node.op == nullptr || node.op->compute == nullptr) {
    return absl::OkStatus();
  }
  // The shapes of a single call may not bind all symbols in it.
  for (const relay::TensorType& type : node.outputs) {
    if (!relay::ConstShape(type.shape)) return absl::OkStatus();
  }
  for (const relay::Value& in : node.inputs) {
    if (in.node != nullptr && !relay::ConstShape(in.type().shape)) {
      return absl::OkStatus();
    }
  }
  te::Graph graph;
  std::vector<te::Tensor> inputs, given;
  for (const relay::Value& in : node.inputs) {
    inputs.emplace_back();
    if (in.node == nullptr) continue;
    inputs.back() = graph.Placeholder("in", in.type().dtype, in.type().shape);
    given.push_back(inputs.back());
  }
  absl::StatusOr<std::vector<te::Tensor>> outputs =
      node.op->compute(relay::ComputeContext{graph, inputs, node.attrs,
                                             node.outputs, node.op->name});
  if (!outputs.ok()) return outputs.status();
  absl::StatusOr<te::Schedule> schedule = te::Schedule::Create(graph, *outputs);
  if (!schedule.ok()) return schedule.status();
  absl::StatusOr<tir::PrimFunc> func =
      te::Lower(node.op->name, graph, given, *outputs, *schedule);
  return func.ok() ? tir::Verify(*func) : func.status();
}

int FromEnvironment(const char* name, int otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::atoi(value);
}

TEST(MutationTest, DamagedModelsAreRefused) {
  const int rounds = FromEnvironment("INGOT_MUTATION_ROUNDS", 6);
  Mutator mutator(FromEnvironment("INGOT_MUTATION_SEED", 20240501));
  int imported = 0, refused = 0;
  for (const char* folder : {"pytorch-operator", "simple", "node"}) {
    absl::StatusOr<std::vector<OnnxCase>> cases =
        FindOnnxCases(absl::StrCat("external/onnx_testdata/data/", folder));
    ASSERT_TRUE(cases.ok()) << cases.status();
    for (const OnnxCase& c : *cases) {
      absl::StatusOr<Blob> blob = Blob::MapFile(c.model_path);
      ASSERT_TRUE(blob.ok()) << blob.status();
      if (blob->size() > 100000) continue;
      for (int round = 0; round < rounds; ++round) {
        std::string bytes(blob->view());
        if (round % 3 == 0) {
          mutator.Bytes(&bytes);
        } else {
          onnx::ModelProto model;
          ASSERT_TRUE(model.ParseFromString(bytes)) << c.name;
          mutator.Fields(&model);
          bytes = model.SerializeAsString();
        }
        SCOPED_TRACE(absl::StrCat(c.name, " round ", round));
        absl::StatusOr<relay::Module> module =
            ImportOnnx(Blob::FromString(std::move(bytes)));
        if (!module.ok()) {
          ++refused;
          EXPECT_FALSE(absl::IsInternal(module.status())) << module.status();
          continue;
        }
        ++imported;
        const absl::Status status = relay::Verify(*module);
        EXPECT_TRUE(status.ok()) << status;
        for (const auto& node : module->main()->nodes()) {
          const absl::Status lowered = LowerNode(*node);
          EXPECT_TRUE(lowered.ok()) << node->name << ": " << lowered;
        }
      }
    }
  }
  std::printf("%d imported, %d refused\n", imported, refused);
}

}  // namespace
}  // namespace ingot
