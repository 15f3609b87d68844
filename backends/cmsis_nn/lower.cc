#include "backends/cmsis_nn/lower.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cmsis_nn/fixed_point.h"
#include "backends/cmsis_nn/layer.h"
#include "base/status_macros.h"
#include "compiler/codegen/region.h"
#include "compiler/driver/plan/storage_planner.h"
#include "compiler/tir/ir.h"
#include "runtime/tensor.h"

namespace ingot::cmsis_nn {
namespace {

using relay::Node;
using relay::NodeKind;
using relay::Value;
using Dims = std::vector<int64_t>;

const DataType kI8 = DataType::Int(8);
const DataType kI32 = DataType::Int(32);

std::vector<tir::Expr> Extents(const Dims& dims) {
  std::vector<tir::Expr> extents;
  for (int64_t dim : dims) extents.push_back(tir::MakeInt(dim));
  return extents;
}

Dims ChannelsLast(const Dims& dims) {
  if (dims.size() != 4) return dims;
  return {dims[0], dims[2], dims[3], dims[1]};
}

template <typename T>
absl::StatusOr<Tensor> MakeTensor(DataType type, const std::vector<T>& values) {
  INGOT_ASSIGN_OR_RETURN(
      Tensor tensor,
      Tensor::Empty(type, {static_cast<int64_t>(values.size())}));
  std::copy(values.begin(), values.end(), tensor.mutable_data<T>());
  return tensor;
}

struct Workspace {
  tir::Buffer buffer;
  StorageRequest request;  // life times are counted in statements
};

class Lowering {
 public:
  Lowering(const relay::Module& module, const relay::Function& region,
           absl::string_view symbol, Extension extension)
      : module_(module), region_(region), extension_(extension) {
    func_.name = std::string(symbol);
    func_.num_outputs = static_cast<int>(region.outputs.size());
  }

  absl::StatusOr<LoweredRegion> Run() {
    INGOT_RETURN_IF_ERROR(DeclareInterface());
    for (const auto& node : region_.nodes()) {
      if (node->kind != NodeKind::kOp &&
          node->kind != NodeKind::kCallFunction) {
        continue;
      }
      const codegen::RegionCall call = codegen::ReadCall(module_, *node);
      INGOT_ASSIGN_OR_RETURN(const Layer layer, ReadLayer(call));
      INGOT_RETURN_IF_ERROR(AddLayer(*node, layer));
    }
    for (const Value& output : region_.outputs) {
      INGOT_RETURN_IF_ERROR(GiveBack(output));
    }
    for (const tir::Buffer& constant : constant_params_) {
      func_.params.push_back(constant);
    }
    for (const Value& output : region_.outputs) {
      func_.params.push_back(results_.at(output));
    }
    func_.body = PlaceWorkspaces(tir::MakeSeq(statements_));
    LoweredRegion lowered;
    lowered.functions.push_back(std::move(func_));
    lowered.constants = std::move(constants_);
    return lowered;
  }

 private:
  absl::Status DeclareInterface() {
    for (Node* input : region_.inputs) {
      INGOT_ASSIGN_OR_RETURN(const Dims dims,
                             codegen::KnownShape(input->outputs[0]));
      func_.params.push_back(
          tir::MakeBuffer(input->name, input->outputs[0].dtype, Extents(dims)));
      given_[{input}] = func_.params.back();
    }
    for (const Value& output : region_.outputs) {
      INGOT_ASSIGN_OR_RETURN(const Dims dims,
                             codegen::KnownShape(output.type()));
      const bool is_new =
          results_
              .emplace(output,
                       tir::MakeBuffer(output.node->name, output.type().dtype,
                                       Extents(dims)))
              .second;
      if (!is_new || output.node->kind == NodeKind::kInput) {
        return absl::UnimplementedError(
            "an output of the region that is no result, or twice");
      }
    }
    return absl::OkStatus();
  }

  // Memory of this function, which statements use that Touch is told of.
  tir::Buffer MakeWorkspace(absl::string_view name, const Dims& dims) {
    Workspace workspace;
    workspace.buffer =
        tir::MakeBuffer(name, kI8, Extents(dims), tir::Scope::kPart);
    workspace.request.bytes = tir::MakeInt(*CountElements(dims));
    workspace.request.first = std::numeric_limits<int>::max();
    workspaces_.push_back(workspace);
    return workspace.buffer;
  }

  // The next statement uses the buffer.
  void Touch(const tir::Buffer& buffer) {
    const int now = static_cast<int>(statements_.size());
    for (Workspace& workspace : workspaces_) {
      if (workspace.buffer != buffer) continue;
      workspace.request.first = std::min(workspace.request.first, now);
      workspace.request.last = now;
    }
  }

  // The body with all workspaces in one, those that are not needed at the same
  // time in the same place.
  tir::Stmt PlaceWorkspaces(tir::Stmt body) {
    if (workspaces_.empty()) return body;
    std::vector<StorageRequest> requests;
    for (const Workspace& workspace : workspaces_) {
      requests.push_back(workspace.request);
    }
    // All are of constant sizes, and thus in one storage.
    const StoragePlan plan = AssignStorage(requests);
    int64_t bytes = 0;
    for (const tir::Expr& size : plan.storages[0]) {
      int64_t constant = 0;
      if (tir::AsConstInt(size, &constant)) bytes = std::max(bytes, constant);
    }
    const tir::Buffer memory = tir::MakeBuffer(
        "memory", kI8, {tir::MakeInt(bytes)}, tir::Scope::kWorkspace);
    for (size_t i = 0; i < workspaces_.size(); ++i) {
      body = tir::MakePart(workspaces_[i].buffer, memory,
                           tir::MakeInt(plan.assignments[i].offset), body);
    }
    return tir::MakeAllocate(memory, body);
  }

  // Copies all elements between the model's order and type, and the library's,
  // if `to_library`, or back. `dims` are the model's.
  void Convert(const tir::Buffer& from, const tir::Buffer& to, const Dims& dims,
               bool to_library) {
    std::vector<tir::VarPtr> vars;
    std::vector<tir::Expr> model;
    for (size_t d = 0; d < dims.size(); ++d) {
      vars.push_back(tir::MakeVar(absl::StrCat("i", d)));
      model.push_back(vars.back());
    }
    std::vector<tir::Expr> library = model;
    std::vector<size_t> order;  // of the loops: as elements are written
    for (size_t d = 0; d < dims.size(); ++d) order.push_back(d);
    if (dims.size() == 4) {
      library = {model[0], model[2], model[3], model[1]};
      if (to_library) order = {0, 2, 3, 1};
    }
    tir::Expr value = tir::MakeLoad(from, to_library ? model : library);
    if (from->dtype != to->dtype) {
      value = tir::MakeCast(to->dtype,
                            tir::MakeCast(kI32, value) +
                                tir::MakeInt(to_library ? -128 : 128, kI32));
    }
    tir::Stmt loops = tir::MakeStore(to, to_library ? library : model, value);
    for (auto d = order.rbegin(); d != order.rend(); ++d) {
      loops = tir::MakeFor(vars[*d], tir::MakeInt(0), tir::MakeInt(dims[*d]),
                           tir::ForKind::kSerial, loops);
    }
    Touch(from);
    Touch(to);
    statements_.push_back(loops);
  }

  // The value as signed bytes with channels last or, if `flat`, in the model's
  // order.
  absl::StatusOr<tir::Buffer> Read(const Value& value, bool flat) {
    INGOT_ASSIGN_OR_RETURN(const Dims dims, codegen::KnownShape(value.type()));
    flat = flat && !IsSameOrder(dims);
    tir::Buffer& own = (flat ? flat_ : made_)[value];
    if (own != nullptr) return own;
    const auto given = given_.find(value);
    if (given != given_.end()) {
      if (value.type().dtype == kI8 && (flat || IsSameOrder(dims))) {
        return own = given->second;
      }
      if (!flat) {
        own = MakeWorkspace(absl::StrCat(given->second->name, "_bytes"),
                            ChannelsLast(dims));
        Convert(given->second, own, dims, /*to_library=*/true);
        return own;
      }
    }
    if (!flat) {
      return absl::InternalError(
          absl::StrCat(value.node->name, " comes from nowhere"));
    }
    INGOT_ASSIGN_OR_RETURN(const tir::Buffer images, Read(value, false));
    own = MakeWorkspace(absl::StrCat(value.node->name, "_flat"), dims);
    Convert(images, own, dims, /*to_library=*/false);
    return own;
  }

  // Returns where a layer writes: the region's output itself, if that is the
  // same.
  absl::StatusOr<tir::Buffer> Place(const Value& value) {
    INGOT_ASSIGN_OR_RETURN(const Dims dims, codegen::KnownShape(value.type()));
    const auto result = results_.find(value);
    const bool is_result = result != results_.end() &&
                           value.type().dtype == kI8 && IsSameOrder(dims);
    return made_[value] =
               is_result ? result->second
                         : MakeWorkspace(absl::StrCat(value.node->name, "_y"),
                                         ChannelsLast(dims));
  }

  absl::Status GiveBack(const Value& output) {
    INGOT_ASSIGN_OR_RETURN(const Dims dims, codegen::KnownShape(output.type()));
    const tir::Buffer& made = made_.at(output);
    if (made != results_.at(output)) {
      Convert(made, results_.at(output), dims, /*to_library=*/false);
    }
    return absl::OkStatus();
  }

  template <typename T>
  absl::Status AddConstant(const std::string& name, DataType type,
                           const std::vector<T>& values,
                           std::vector<tir::Buffer>* reads) {
    INGOT_ASSIGN_OR_RETURN(Tensor tensor, MakeTensor(type, values));
    constants_.emplace_back(name, std::move(tensor));
    constant_params_.push_back(tir::MakeBuffer(
        name, type, {tir::MakeInt(static_cast<int64_t>(values.size()))}));
    reads->push_back(constant_params_.back());
    return absl::OkStatus();
  }

  // The call of one layer.
  absl::Status AddLayer(const Node& node, const Layer& layer) {
    std::vector<tir::Buffer> reads;
    for (const Value& input : layer.inputs) {
      INGOT_ASSIGN_OR_RETURN(tir::Buffer buffer, Read(input, layer.reads_flat));
      reads.push_back(std::move(buffer));
    }
    INGOT_ASSIGN_OR_RETURN(const tir::Buffer result,
                           Place({const_cast<Node*>(&node)}));
    std::vector<tir::Buffer> writes = {result};
    std::vector<int64_t> numbers;
    const auto add = [&numbers](const std::vector<int64_t>& more) {
      numbers.insert(numbers.end(), more.begin(), more.end());
    };
    const Window& w = layer.window;
    const auto add_workspace = [&] {
      const int64_t bytes = WorkspaceBytes(layer, extension_);
      // C has no arrays of nothing.
      writes.push_back(MakeWorkspace(absl::StrCat(node.name, "_workspace"),
                                     {std::max<int64_t>(bytes, 1)}));
      add({bytes});
    };
    const auto add_window = [&] {
      add({w.batch, w.in_h, w.in_w, w.in_c, w.out_h, w.out_w, w.out_c,
           w.kernel_h, w.kernel_w, w.stride_h, w.stride_w, w.pad_h, w.pad_w,
           w.dilation_h, w.dilation_w, layer.minimum, layer.maximum});
    };
    const int64_t y_zero = layer.output_quantization.zero;
    const Quantization& x = layer.input_quantizations[0];
    std::string symbol;
    switch (layer.function) {
      case Function::kConvolve:
      case Function::kDepthwise:
        symbol =
            layer.function == Function::kConvolve ? "convolve" : "depthwise";
        INGOT_RETURN_IF_ERROR(AddProductConstants(node, layer, &reads));
        add_workspace();
        add({-x.zero, y_zero});
        add_window();
        break;
      case Function::kFullyConnected: {
        symbol = "fully_connected";
        INGOT_RETURN_IF_ERROR(AddProductConstants(node, layer, &reads));
        add_workspace();
        const FixedPoint factor = ToFixedPoint(layer.factors[0]);
        add({-x.zero, y_zero, w.batch, w.in_c, w.out_c, factor.multiplier,
             factor.shift, layer.minimum, layer.maximum});
        break;
      }
      case Function::kAveragePool:
        symbol = "average_pool";
        add_workspace();
        add_window();
        break;
      case Function::kMaxPool:
        symbol = "max_pool";
        add_window();
        break;
      case Function::kSoftmax: {
        symbol = "softmax";
        const SoftmaxScale scale = ToSoftmaxScale(x.scale);
        add({w.batch, w.in_c, scale.factor.multiplier, scale.factor.shift,
             scale.smallest_difference});
        break;
      }
      case Function::kAdd:
        symbol = "add";
        add(SumNumbers(layer));
        break;
    }
    std::vector<tir::Expr> scalars;
    for (const int64_t number : numbers) {
      scalars.push_back(tir::MakeInt(number, kI32));
    }
    for (const auto* list : {&reads, &writes}) {
      for (const tir::Buffer& buffer : *list) Touch(buffer);
    }
    statements_.push_back(tir::MakeCallExtern(
        absl::StrCat("ingot_cmsis_nn_", symbol), std::move(reads),
        std::move(writes), std::move(scalars)));
    return absl::OkStatus();
  }

  absl::Status AddProductConstants(const Node& node, const Layer& layer,
                                   std::vector<tir::Buffer>* reads) {
    const auto name = [&node](absl::string_view what) {
      return absl::StrCat(node.name, "_", what);
    };
    INGOT_RETURN_IF_ERROR(
        AddConstant(name("weights"), kI8, layer.weights, reads));
    INGOT_RETURN_IF_ERROR(AddConstant(name("bias"), kI32, layer.bias, reads));
    if (layer.function == Function::kFullyConnected) return absl::OkStatus();
    std::vector<int32_t> multipliers, shifts;
    for (const double factor : layer.factors) {
      const FixedPoint fixed = ToFixedPoint(factor);
      multipliers.push_back(fixed.multiplier);
      shifts.push_back(fixed.shift);
    }
    INGOT_RETURN_IF_ERROR(
        AddConstant(name("multiplier"), kI32, multipliers, reads));
    return AddConstant(name("shift"), kI32, shifts, reads);
  }

  // Both operands are brought to twice the coarser one's scale, with 20 more
  // bits, before they are added.
  static std::vector<int64_t> SumNumbers(const Layer& layer) {
    constexpr int kMoreBits = 20;
    const Quantization &a = layer.input_quantizations[0],
                       &b = layer.input_quantizations[1],
                       &y = layer.output_quantization;
    const double twice = 2 * std::max(a.scale, b.scale);
    const FixedPoint a_factor = ToFixedPoint(a.scale / twice);
    const FixedPoint b_factor = ToFixedPoint(b.scale / twice);
    const FixedPoint y_factor =
        ToFixedPoint(twice / ((1 << kMoreBits) * y.scale));
    return {layer.window.in_c,   kMoreBits,      -a.zero,
            a_factor.multiplier, a_factor.shift, -b.zero,
            b_factor.multiplier, b_factor.shift, y.zero,
            y_factor.multiplier, y_factor.shift, layer.minimum,
            layer.maximum};
  }

  const relay::Module& module_;
  const relay::Function& region_;
  const Extension extension_;
  tir::PrimFunc func_;
  std::vector<tir::Stmt> statements_;
  std::vector<Workspace> workspaces_;
  std::vector<tir::Buffer> constant_params_;
  std::vector<std::pair<std::string, Tensor>> constants_;
  std::map<Value, tir::Buffer> given_;    // inputs, as the model has them
  std::map<Value, tir::Buffer> results_;  // outputs, as the model has them
  std::map<Value, tir::Buffer> made_;     // as the library has them
  std::map<Value, tir::Buffer> flat_;     // signed bytes in the model's order
};

}  // namespace

absl::StatusOr<LoweredRegion> LowerRegion(const relay::Module& module,
                                          const relay::Function& region,
                                          absl::string_view symbol,
                                          Extension extension) {
  return Lowering(module, region, symbol, extension).Run();
}

}  // namespace ingot::cmsis_nn
