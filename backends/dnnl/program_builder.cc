#include "backends/dnnl/program_builder.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/dnnl/arena.h"
#include "backends/dnnl/layouts.h"
#include "backends/dnnl/primitives.h"
#include "backends/dnnl/threads.h"
#include "base/status_macros.h"

namespace ingot::dnnl_backend {
namespace {

using dnnl::memory;

// Elements of a tensor in one layout.
struct Form {
  int buffer = -1;
  memory::desc desc;
};

struct TensorState {
  std::vector<Form> forms;  // the first is how it was made
  int last_use = -1;        // the last node that reads it
  bool is_output = false;
};

// Throws what oneDNN throws.
class Builder {
 public:
  Builder(const Graph& graph, const dnnl::engine& engine, Weights* weights)
      : graph_(graph), engine_(engine), weights_(weights) {}

  std::unique_ptr<Program> Run(int threads) {
    FindUses();
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      const std::string& name = graph_.inputs[i];
      Buffer buffer;
      buffer.kind = Buffer::kInput;
      buffer.index = static_cast<int>(i);
      Put(name, {AddBuffer(buffer), Plain(graph_.shape(name))});
    }
    for (; node_ < static_cast<int>(graph_.nodes.size()); ++node_) {
      AddNode(graph_.nodes[node_]);
    }
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      AddOutput(static_cast<int>(i));
    }
    PlaceBuffers();
    return std::make_unique<Program>(
        engine_, threads, std::move(buffers_), std::move(steps_),
        scratch_offset_ + scratch_bytes_, scratch_offset_);
  }

  // The node that is being added; empty while there is none.
  std::string current() const {
    return node_ < static_cast<int>(graph_.nodes.size())
               ? graph_.nodes[node_].name
               : "";
  }

 private:
  void FindUses() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const int index = static_cast<int>(i);
      for (const std::string& name : graph_.nodes[i].inputs) {
        tensors_[name].last_use = index;
      }
      for (const PostOp& post : graph_.nodes[i].post_ops) {
        if (!post.add.empty()) tensors_[post.add].last_use = index;
      }
    }
    for (const std::string& name : graph_.outputs) {
      tensors_[name].is_output = true;
    }
  }

  int AddBuffer(Buffer buffer) {
    buffers_.push_back(std::move(buffer));
    return static_cast<int>(buffers_.size()) - 1;
  }

  int AddArenaBuffer(size_t bytes) {
    Buffer buffer;
    buffer.bytes = bytes;
    return AddBuffer(std::move(buffer));
  }

  // A tensor has been made: where and how.
  void Put(const std::string& name, Form form) {
    in_buffer_[form.buffer].insert(name);
    tensors_[name].forms.push_back(std::move(form));
  }

  // The form that the tensor has now. Constants get theirs on first use.
  const Form& First(const std::string& name) {
    TensorState& state = tensors_[name];
    const TensorDecl& decl = graph_.tensors.at(name);
    if (state.forms.empty() && !decl.constant.empty()) {
      const memory::desc plain = Plain(decl.shape);
      Buffer buffer;
      buffer.kind = Buffer::kConstant;
      buffer.constant = weights_->Get(decl.constant, plain, plain);
      state.forms.push_back({AddBuffer(buffer), plain});
    }
    return state.forms.front();
  }

  // The tensor's elements in the layout `to`, moved there if need be.
  Form Want(const std::string& name, const memory::desc& to) {
    const Form first = First(name);
    for (const Form& form : tensors_[name].forms) {
      if (form.desc == to) return form;
    }
    Form form = Moved(name, first, to);
    Put(name, form);
    return form;
  }

  Form WantPlain(const std::string& name) {
    return Want(name, Plain(graph_.shape(name)));
  }

  // `from`, whose desc may be another view of the tensor `name`, in a new
  // buffer with the layout `to`. A constant is moved here and now.
  Form Moved(const std::string& name, const Form& from,
             const memory::desc& to) {
    if (from.desc == to) return from;
    const TensorDecl& decl = graph_.tensors.at(name);
    if (!decl.constant.empty()) {
      Buffer buffer;
      buffer.kind = Buffer::kConstant;
      buffer.constant = weights_->Get(decl.constant, from.desc, to);
      return {AddBuffer(std::move(buffer)), to};
    }
    Form form = {AddArenaBuffer(to.get_size()), to};
    AddReorder(name, from, form);
    return form;
  }

  // The tensor inside of a larger one, whose margin is zero: the arena is when
  // it is made, and nothing else ever lies there.
  Form Padded(const std::string& name, const MadePrimitive::Operand& operand) {
    const Form padded = {AddArenaBuffer(operand.desc.get_size()), operand.desc};
    buffers_[padded.buffer].kept = true;
    const memory::desc inside =
        Sliced(operand.desc, operand.margin, graph_.shape(name));
    const Form from = First(name);
    AddReorder(name, from, {padded.buffer, inside});
    return padded;
  }

  void AddReorder(const std::string& name, Form from, Form to) {
    // The same for both: kernels look for the order that blocks came from.
    const Dims order = OrderInMemory(from.desc);
    const memory::desc a = Transposed(from.desc, order);
    const memory::desc b = Transposed(to.desc, order);
    if (!a.is_zero() && !b.is_zero()) {
      from.desc = a;
      to.desc = b;
    }
    dnnl::primitive_attr attr;
    attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const dnnl::reorder::primitive_desc pd(engine_, from.desc, engine_, to.desc,
                                           attr);
    ProgramStep step;
    step.name = absl::StrCat("a copy of ", name);
    step.primitive = dnnl::reorder(pd);
    step.scratchpad = pd.scratchpad_desc();
    step.arguments = {{DNNL_ARG_SRC, from.buffer, from.desc},
                      {DNNL_ARG_DST, to.buffer, to.desc}};
    AddStep(std::move(step));
  }

  void AddStep(ProgramStep step) {
    scratch_bytes_ = std::max(scratch_bytes_, step.scratchpad.get_size());
    steps_.push_back(std::move(step));
  }

  // Whether the current node may write over a form of its operand `name`:
  // no later node reads the buffer.
  bool MayOverwrite(const std::string& name, int buffer) {
    if (buffers_[buffer].kind != Buffer::kArena) return false;
    for (const std::string& other : in_buffer_[buffer]) {
      const TensorState& state = tensors_[other];
      if (state.is_output || state.last_use > node_) return false;
    }
    const TensorState& state = tensors_[name];
    return !state.is_output && state.last_use <= node_;
  }

  void AddNode(const Node& node) {
    if (node.op == "reshape" || node.op == "transpose" || node.op == "slice") {
      AddView(node);
    } else {
      AddPrimitive(node);
    }
  }

  void AddView(const Node& node) {
    const std::string& source = node.inputs[0];
    const Dims& dims = graph_.shape(node.output);
    auto view = [&](const memory::desc& desc) {
      if (node.op == "reshape") return Reshaped(desc, dims);
      if (node.op == "slice") return Sliced(desc, node.Ints("starts"), dims);
      return Transposed(desc, node.Ints("axes"));
    };
    First(source);
    for (const Form& form : tensors_[source].forms) {
      // Kernels that copy know whole blocks only.
      if (node.op == "slice" && CutsBlocks(form.desc, dims)) continue;
      const memory::desc desc = view(form.desc);
      if (!desc.is_zero()) {
        Put(node.output, {form.buffer, desc});
        return;
      }
    }
    const Form plain = WantPlain(source);
    const memory::desc desc = view(plain.desc);
    if (desc.is_zero()) {
      throw dnnl::error(dnnl_unimplemented, "no view of these elements");
    }
    Put(node.output, {plain.buffer, desc});
  }

  void AddPrimitive(const Node& node) {
    // The layouts that the operands have now decide; weights come as they are
    // best read.
    PrimitiveRequest request;
    request.node = &node;
    for (const std::string& name : node.inputs) {
      const Form& form = First(name);
      const Buffer::Kind kind = buffers_[form.buffer].kind;
      request.operands.push_back(
          {graph_.shape(name), form.desc, kind == Buffer::kConstant});
    }
    request.result = graph_.shape(node.output);
    MadePrimitive made = MakePrimitive(request, engine_);

    ProgramStep step;
    step.name = absl::StrCat("node ", node.name);
    step.primitive = made.primitive;
    step.scratchpad = made.scratchpad;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const MadePrimitive::Operand& operand = made.operands[i];
      Form form;
      if (!operand.margin.empty()) {
        form = Padded(node.inputs[i], operand);
      } else if (operand.view.is_zero()) {
        form = Want(node.inputs[i], operand.desc);
      } else {
        // Read with another shape: first as that shape sees it.
        form = WantPlain(node.inputs[i]);
        form = Moved(node.inputs[i], {form.buffer, operand.view}, operand.desc);
      }
      step.arguments.push_back({operand.slot, form.buffer, form.desc});
    }
    const int result = ResultBuffer(node, made, step);
    step.arguments.push_back({DNNL_ARG_DST, result, made.result});
    AddStep(std::move(step));
    Put(node.output,
        {result, made.result_view.is_zero() ? made.result : made.result_view});
  }

  // Chooses the buffer of the node's result: that of a tensor which is added to
  // it, that of an operand, or a new one.
  int ResultBuffer(const Node& node, const MadePrimitive& made,
                   const ProgramStep& step) {
    for (const PostOp& post : node.post_ops) {
      if (post.add.empty()) continue;
      const memory::desc wanted =
          made.result_view.is_zero() ? made.result : made.result_view;
      Form form = Want(post.add, wanted);
      bool is_operand = false;
      for (const ProgramStep::Argument& argument : step.arguments) {
        is_operand |= argument.buffer == form.buffer;
      }
      if (!is_operand && MayOverwrite(post.add, form.buffer)) {
        return form.buffer;
      }
      const Form copy = {AddArenaBuffer(wanted.get_size()), wanted};
      AddReorder(post.add, form, copy);
      return copy.buffer;
    }
    if (made.in_place && !step.arguments.empty() &&
        step.arguments[0].desc == made.result &&
        MayOverwrite(node.inputs[0], step.arguments[0].buffer)) {
      bool read_twice = false;
      for (size_t i = 1; i < step.arguments.size(); ++i) {
        read_twice |= step.arguments[i].buffer == step.arguments[0].buffer;
      }
      if (!read_twice) return step.arguments[0].buffer;
    }
    return AddArenaBuffer(made.result.get_size());
  }

  // The output is where it was made, where that is plain; or a copy.
  void AddOutput(int index) {
    const std::string& name = graph_.outputs[index];
    First(name);
    const memory::desc plain = Plain(graph_.shape(name));
    for (const Form& form : tensors_[name].forms) {
      Buffer& buffer = buffers_[form.buffer];
      if (form.desc == plain && buffer.kind == Buffer::kArena &&
          buffer.bytes == plain.get_size()) {
        buffer.kind = Buffer::kOutput;
        buffer.index = index;
        return;
      }
    }
    Buffer buffer;
    buffer.kind = Buffer::kOutput;
    buffer.index = index;
    const Form from = tensors_[name].forms.front();
    AddReorder(name, from, {AddBuffer(buffer), plain});
  }

  void PlaceBuffers() {
    std::vector<Interval> intervals(buffers_.size());
    std::vector<bool> used(buffers_.size(), false);
    for (size_t s = 0; s < steps_.size(); ++s) {
      for (const ProgramStep::Argument& argument : steps_[s].arguments) {
        Interval& interval = intervals[argument.buffer];
        if (!used[argument.buffer]) interval.first = static_cast<int>(s);
        interval.last = static_cast<int>(s);
        used[argument.buffer] = true;
      }
    }
    for (size_t b = 0; b < buffers_.size(); ++b) {
      if (buffers_[b].kind == Buffer::kArena && used[b]) {
        intervals[b].bytes = buffers_[b].bytes;
      }
      if (buffers_[b].kept) {
        intervals[b].first = 0;
        intervals[b].last = static_cast<int>(steps_.size());
      }
    }
    const ArenaPlan plan = PlanArena(intervals);
    for (size_t b = 0; b < buffers_.size(); ++b) {
      buffers_[b].offset = plan.offsets[b];
    }
    scratch_offset_ = plan.bytes;
  }

  const Graph& graph_;
  const dnnl::engine& engine_;
  Weights* const weights_;
  int node_ = 0;
  std::map<std::string, TensorState> tensors_;
  std::map<int, std::set<std::string>> in_buffer_;
  std::vector<Buffer> buffers_;
  std::vector<ProgramStep> steps_;
  size_t scratch_bytes_ = 0;
  size_t scratch_offset_ = 0;
};

}  // namespace

absl::Status CheckConstants(const Graph& graph, const Weights& weights) {
  for (const auto& [name, decl] : graph.tensors) {
    if (decl.constant.empty()) continue;
    const Tensor* tensor = weights.Find(decl.constant);
    if (tensor == nullptr) {
      return absl::NotFoundError(absl::StrCat("tensor ", name,
                                              ": there is no constant '",
                                              decl.constant, "' in the set"));
    }
    INGOT_ASSIGN_OR_RETURN(int64_t elements, CountElementsOf(decl.shape));
    if (tensor->dtype() != DataType::Float(32) ||
        tensor->NumElements() != elements) {
      return absl::InvalidArgumentError(absl::StrCat(
          "tensor ", name, ": the constant '", decl.constant, "' is a ",
          tensor->TypeString(), ", not f32 of ", elements, " elements"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Program>> BuildProgram(
    const Graph& graph, const dnnl::engine& engine, int threads,
    Weights* weights) {
  const ScopedThreads scoped(threads);
  Builder builder(graph, engine, weights);
  std::string what;
  absl::StatusCode code = absl::StatusCode::kInternal;
  try {
    return builder.Run(threads);
  } catch (const dnnl::error& error) {
    what = error.what();
    if (error.status == dnnl_unimplemented) {
      code = absl::StatusCode::kUnimplemented;
    } else if (error.status == dnnl_invalid_arguments) {
      code = absl::StatusCode::kInvalidArgument;
    } else if (error.status == dnnl_out_of_memory) {
      code = absl::StatusCode::kResourceExhausted;
    }
  } catch (const std::bad_alloc&) {
    what = "no memory";
    code = absl::StatusCode::kResourceExhausted;
  } catch (const std::exception& error) {
    what = error.what();
  }
  return absl::Status(
      code, absl::StrCat("node ", builder.current(), ": oneDNN: ", what));
}

}  // namespace ingot::dnnl_backend
