#include "compiler/driver/main/build_main.h"

#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/driver/main/call_emitter.h"
#include "compiler/driver/main/dims.h"
#include "compiler/driver/main/plan_scope.h"
#include "compiler/driver/main/statements.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/passes/passes.h"
#include "compiler/tir/verifier.h"
#include "compiler/tir/visitor.h"
#include "runtime/plan/views.h"

namespace ingot {
namespace {

// The most that an arena may need, as the executor has it: far from where sizes
// overflow.
constexpr double kMostBytes = static_cast<double>(uint64_t{1} << 40);

// A C identifier that no C compiler knows, unlike those in `taken`.
std::string ParameterName(absl::string_view start, absl::string_view name,
                          std::set<std::string>* taken) {
  std::string id = absl::StrCat(start, "_");
  for (const char c : name) {
    id += absl::ascii_isalnum(static_cast<unsigned char>(c)) ? c : '_';
  }
  std::string unique = id;
  for (int i = 1; !taken->insert(unique).second; ++i) {
    unique = absl::StrCat(id, "_", i);
  }
  return unique;
}

class Replacer final : public tir::StmtMutator {
 public:
  Replacer(const tir::Buffer& from, const tir::Buffer& to) {
    ReplaceBuffer(from, to);
  }
};

class MainBuilder {
 public:
  explicit MainBuilder(const MainParts& parts)
      : parts_(parts), plan_(*parts.plan), scope_(plan_) {}

  absl::StatusOr<BuiltMain> Build() {
    INGOT_RETURN_IF_ERROR(RefuseSequences());
    if (plan_.states_size() > 0) {
      return absl::UnimplementedError("values stay from run to run");
    }
    BindSymbols();
    std::vector<tir::Buffer> inputs, outputs;
    AddInputs(&inputs);
    std::vector<int> copied;  // outputs
    INGOT_RETURN_IF_ERROR(AddOutputs(&outputs, &copied));
    const tir::Buffer constants = ByteBuffer(
        "constants", tir::MakeInt(static_cast<int64_t>(parts_.constants_bytes)),
        tir::Scope::kParam);
    // Parts refer to the arena before its size is known.
    const tir::Buffer arena =
        ByteBuffer("arena", tir::MakeInt(0), tir::Scope::kWorkspace);
    CallEmitter emitter(parts_, constants, arena, dims_);
    Statements body;
    INGOT_RETURN_IF_ERROR(emitter.EmitPlan(&scope_, &body));
    for (int i : copied) CopyOutput(i, outputs[i], &body);

    BuiltMain built;
    tir::PrimFunc& func = built.function;
    built.main.function = func.name =
        absl::StrCat(parts_.symbol_prefix, "_main");
    func.params = std::move(inputs);
    if (!parts_.constants_symbol.empty()) {
      built.main.constants = parts_.constants_symbol;
      func.params.push_back(constants);
    }
    func.num_outputs = static_cast<int>(outputs.size());
    func.params.insert(func.params.end(), outputs.begin(), outputs.end());
    func.body = body.Fold();
    if (emitter.layout().is_used()) {
      AddArena(emitter.layout().bytes(), arena, &built);
    }
    INGOT_ASSIGN_OR_RETURN(func, tir::ShareSizes(tir::Simplify(func)));
    INGOT_RETURN_IF_ERROR(tir::Verify(func));
    INGOT_RETURN_IF_ERROR(Describe(&built));
    return built;
  }

 private:
  static tir::Buffer ByteBuffer(absl::string_view name, tir::Expr bytes,
                                tir::Scope scope) {
    return tir::MakeBuffer(name, DataType::UInt(8), {std::move(bytes)}, scope);
  }

  absl::Status RefuseSequences() const {
    for (const PlanTensor& tensor : plan_.tensors()) {
      if (!tensor.is_sequence()) continue;
      return absl::UnimplementedError(
          absl::StrCat("'", tensor.name(), "' is a sequence"));
    }
    return absl::OkStatus();
  }

  void BindSymbols() {
    for (uint32_t symbol : plan_.phases(0).symbols()) {
      const tir::VarPtr var =
          tir::MakeVar(plan_.symbols(static_cast<int>(symbol)).name());
      dims_.push_back(var.get());
      scope_.SetSymbol(symbol, var);
    }
  }

  tir::Buffer Parameter(absl::string_view start, uint32_t t) {
    return tir::MakeBuffer(
        ParameterName(start, scope_.tensor(t).name(), &names_), scope_.Type(t),
        scope_.Shape(t));
  }

  void AddInputs(std::vector<tir::Buffer>* inputs) {
    for (uint32_t t : plan_.inputs()) {
      inputs->push_back(Parameter("in", t));
      scope_.SetPlace(t, {inputs->back(), tir::MakeInt(0)});
    }
  }

  // A call's result is written right into the output that it is, the first time
  // that it is one; parts of results and other outputs are copied at the end.
  absl::Status AddOutputs(std::vector<tir::Buffer>* outputs,
                          std::vector<int>* copied) {
    for (int i = 0; i < plan_.outputs_size(); ++i) {
      const uint32_t t = plan_.outputs(i);
      const uint32_t root = scope_.Root(t);
      if (!scope_.KnowsShape(t)) {
        return absl::UnimplementedError(
            absl::StrCat("the shape of the output '", scope_.tensor(t).name(),
                         "' is known only while the model runs"));
      }
      outputs->push_back(Parameter("out", t));
      if (scope_.tensor(root).has_storage() && !scope_.HasPlace(root) &&
          !IsInPart(plan_, t)) {
        scope_.SetPlace(root, {outputs->back(), tir::MakeInt(0)});
      } else {
        copied->push_back(i);
      }
    }
    return absl::OkStatus();
  }

  void CopyOutput(int i, const tir::Buffer& output, Statements* body) {
    const uint32_t t = plan_.outputs(i);
    body->Add(Copy(scope_.PlaceOf(t), {output, tir::MakeInt(0)},
                   scope_.Elements(t),
                   static_cast<int>(output->dtype.bytes())));
  }

  // Makes the arena a parameter, and its size something that the function
  // checks where dimensions decide on it.
  void AddArena(const tir::Expr& bytes, const tir::Buffer& arena,
                BuiltMain* built) const {
    tir::PrimFunc& func = built->function;
    func.params.push_back(ByteBuffer("arena", bytes, tir::Scope::kWorkspace));
    func.body = Replacer(arena, func.params.back()).Mutate(func.body);
    func.num_workspaces = 1;
    built->main.has_arena = true;
    int64_t constant = 0;
    if (tir::AsConstInt(bytes, &constant)) return;
    func.body = tir::MakeSeq(
        {tir::MakeAssert(
             tir::Le(UpperBound(bytes),
                     tir::MakeFloat(kMostBytes, DataType::Float(64))),
             "the arena would be larger than 1 TiB"),
         func.body});
  }

  // Names inputs and outputs, and adds the function for shapes if there must be
  // one.
  absl::Status Describe(BuiltMain* built) const {
    const auto names = [this](const auto& tensors) {
      std::vector<std::string> result;
      for (uint32_t t : tensors) result.push_back(scope_.tensor(t).name());
      return result;
    };
    MainFunction& main = built->main;
    main.inputs = names(plan_.inputs());
    main.outputs = names(plan_.outputs());
    std::vector<tir::Expr> dims;
    bool are_constant = true;
    for (uint32_t t : plan_.outputs()) {
      for (const tir::Expr& dim : scope_.Shape(t)) {
        int64_t value = 0;
        are_constant = are_constant && tir::AsConstInt(dim, &value);
        dims.push_back(dim);
      }
    }
    if (are_constant) return absl::OkStatus();
    tir::PrimFunc func;
    func.name = absl::StrCat(parts_.symbol_prefix, "_output_shapes");
    func.params.assign(built->function.params.begin(),
                       built->function.params.begin() + plan_.inputs_size());
    const tir::Buffer shapes = tir::MakeBuffer(
        "shapes", DataType::Int(64),
        {tir::MakeInt(static_cast<int64_t>(dims.size()))}, tir::Scope::kParam);
    func.params.push_back(shapes);
    func.num_outputs = 1;
    Statements body;
    for (size_t i = 0; i < dims.size(); ++i) {
      body.Add(tir::MakeStore(shapes, {tir::MakeInt(static_cast<int64_t>(i))},
                              dims[i]));
    }
    func.body = body.Fold();
    INGOT_RETURN_IF_ERROR(tir::Verify(func));
    main.output_shapes = func.name;
    built->output_shapes = std::move(func);
    return absl::OkStatus();
  }

  const MainParts& parts_;
  const Plan& plan_;
  PlanScope scope_;
  std::vector<const tir::Var*> dims_;
  std::set<std::string> names_;
};

}  // namespace

absl::StatusOr<BuiltMain> BuildMain(const MainParts& parts) {
  return MainBuilder(parts).Build();
}

}  // namespace ingot
