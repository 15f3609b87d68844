#include "compiler/codegen/llvm/share_functions.h"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Metadata.h"

namespace ingot::codegen {
namespace {

using llvm::Constant;
using llvm::Function;
using llvm::Instruction;

// A call of a smaller function would cost as much as it saves.
constexpr unsigned kFewestInstructions = 16;
// More offsets than these are likely to be worth folding into addresses.
constexpr unsigned kMostOffsets = 4;

// Whether LLVM makes nothing special of this number.
bool IsOrdinary(const Constant* c) {
  if (const Constant* all = c->getSplatValue()) c = all;
  if (const auto* x = llvm::dyn_cast<llvm::ConstantInt>(c)) return !x->isZero();
  const auto* x = llvm::dyn_cast<llvm::ConstantFP>(c);
  return x != nullptr && x->getType()->isFloatTy() &&
         x->getValueAPF().isFiniteNonZero() &&
         x->getValueAPF().getExactLog2Abs() == INT_MIN;
}

bool FeedsPhi(const Instruction& i) {
  return std::any_of(i.user_begin(), i.user_end(), [](const llvm::User* user) {
    return llvm::isa<llvm::PHINode>(user);
  });
}

// Whether another function may have another number here: a float, a term of a
// vector of whole numbers, or of an offset.
bool IsPlace(const Instruction& i, const llvm::Value* operand) {
  const auto* c = llvm::dyn_cast<Constant>(operand);
  if (c == nullptr || llvm::isa<llvm::PHINode>(i)) return false;
  llvm::Type* type = c->getType();
  if (type->isVectorTy() && c->getSplatValue() == nullptr) return false;
  if (type->getScalarType()->isFloatTy()) return IsOrdinary(c);
  const bool is_sum =
      i.getOpcode() == Instruction::Add || i.getOpcode() == Instruction::Sub;
  if (!is_sum || !IsOrdinary(c)) return false;
  if (type->isVectorTy()) return type->isIntOrIntVectorTy();
  return type->isIntegerTy(64) && !FeedsPhi(i);
}

// Functions that can share code have equal values.
llvm::hash_code HashOf(const Function& f) {
  llvm::hash_code hash = llvm::hash_combine(f.getFunctionType(), f.size());
  for (const Instruction& i : llvm::instructions(f)) {
    hash = llvm::hash_combine(hash, i.getOpcode(), i.getType(),
                              i.getNumOperands());
    for (const llvm::Value* operand : i.operand_values()) {
      const auto* c = llvm::dyn_cast<Constant>(operand);
      if (c == nullptr || IsPlace(i, operand)) continue;
      hash = llvm::hash_combine(hash, c);
    }
  }
  return hash;
}

// Loops' properties are nodes of their own, whose first operand is themselves.
bool SameNode(const llvm::MDNode* a, const llvm::MDNode* b) {
  if (a == b) return true;
  if (!a->isDistinct() || !b->isDistinct() || a->getNumOperands() == 0 ||
      a->getNumOperands() != b->getNumOperands() || a->getOperand(0) != a ||
      b->getOperand(0) != b) {
    return false;
  }
  return std::equal(a->op_begin() + 1, a->op_end(), b->op_begin() + 1);
}

bool SameMetadata(const Instruction& a, const Instruction& b) {
  llvm::SmallVector<std::pair<unsigned, llvm::MDNode*>, 4> of_a, of_b;
  a.getAllMetadata(of_a);
  b.getAllMetadata(of_b);
  return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                    [](const auto& x, const auto& y) {
                      return x.first == y.first && SameNode(x.second, y.second);
                    });
}

// Equal but for how many bytes a pointer is known to have.
bool SameAttributes(const Function& a, const Function& b) {
  const llvm::AttributeList of_a = a.getAttributes();
  const llvm::AttributeList of_b = b.getAttributes();
  if (of_a.getFnAttrs() != of_b.getFnAttrs() ||
      of_a.getRetAttrs() != of_b.getRetAttrs()) {
    return false;
  }
  llvm::LLVMContext& c = a.getContext();
  for (unsigned i = 0; i < a.arg_size(); ++i) {
    const auto kind = llvm::Attribute::Dereferenceable;
    const llvm::AttributeSet x = of_a.getParamAttrs(i),
                             y = of_b.getParamAttrs(i);
    if (x.hasAttribute(kind) != y.hasAttribute(kind) ||
        x.removeAttribute(c, kind) != y.removeAttribute(c, kind)) {
      return false;
    }
  }
  return true;
}

using Constants = std::vector<Constant*>;

// The places of `f`, in the order of its instructions.
std::vector<llvm::Use*> PlacesOf(Function* f) {
  std::vector<llvm::Use*> places;
  for (Instruction& i : llvm::instructions(f)) {
    for (llvm::Use& use : i.operands()) {
      if (IsPlace(i, use.get())) places.push_back(&use);
    }
  }
  return places;
}

// Compares a function with the first of its group.
class Match {
 public:
  Match(const Function& first, const Function& other)
      : first_(first), other_(other) {}

  // Returns the constants of `other` at the places of `first`; none where they
  // differ in more.
  std::optional<Constants> Run() {
    if (first_.getFunctionType() != other_.getFunctionType() ||
        first_.size() != other_.size() || !SameAttributes(first_, other_)) {
      return std::nullopt;
    }
    for (unsigned i = 0; i < first_.arg_size(); ++i) {
      others_[first_.getArg(i)] = other_.getArg(i);
    }
    auto block = other_.begin();
    for (const llvm::BasicBlock& b : first_) {
      if (b.size() != block->size()) return std::nullopt;
      others_[&b] = &*block;
      auto instruction = block->begin();
      for (const Instruction& i : b) others_[&i] = &*instruction++;
      ++block;
    }
    for (const Instruction& i : llvm::instructions(first_)) {
      if (!Same(i, *llvm::cast<Instruction>(others_[&i]))) return std::nullopt;
    }
    if (offsets_ > kMostOffsets) return std::nullopt;
    return std::move(found_);
  }

 private:
  bool Same(const Instruction& i, const Instruction& other) {
    if (!i.isSameOperationAs(&other) ||
        !i.hasSameSubclassOptionalData(&other) || !SameMetadata(i, other)) {
      return false;
    }
    if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&i)) {
      for (unsigned k = 0; k < phi->getNumIncomingValues(); ++k) {
        if (others_[phi->getIncomingBlock(k)] !=
            llvm::cast<llvm::PHINode>(other).getIncomingBlock(k)) {
          return false;
        }
      }
    }
    for (unsigned k = 0; k < i.getNumOperands(); ++k) {
      llvm::Value* a = i.getOperand(k);
      llvm::Value* b = other.getOperand(k);
      if (IsPlace(i, a)) {
        if (a != b && !IsPlace(other, b)) return false;
        found_.push_back(llvm::cast<Constant>(b));
        if (a != b && a->getType()->isIntegerTy()) ++offsets_;
      } else if (llvm::isa<Constant>(a) ? a != b : !SameValue(a, b)) {
        return false;
      }
    }
    return true;
  }

  bool SameValue(const llvm::Value* a, const llvm::Value* b) const {
    const auto found = others_.find(a);
    // Anything that is not of the function, such as metadata, is itself.
    return found == others_.end() ? a == b : found->second == b;
  }

  const Function& first_;
  const Function& other_;
  llvm::DenseMap<const llvm::Value*, const llvm::Value*> others_;
  Constants found_;
  unsigned offsets_ = 0;
};

struct Group {
  std::vector<Function*> functions;
  std::vector<Constants> constants;  // of each, at the places of the first
};

// Finds the groups of two and more.
std::vector<Group> FindGroups(llvm::Module* module) {
  std::vector<Group> groups;
  std::unordered_map<size_t, std::vector<size_t>> by_hash;
  for (Function& f : *module) {
    if (f.isDeclaration() || !f.hasFnAttribute(llvm::Attribute::NoInline) ||
        f.hasFnAttribute(llvm::Attribute::Cold) || f.isVarArg() ||
        f.getInstructionCount() < kFewestInstructions) {
      continue;
    }
    std::vector<size_t>& candidates = by_hash[HashOf(f)];
    bool is_new = true;
    for (const size_t g : candidates) {
      if (auto constants = Match(*groups[g].functions[0], f).Run()) {
        groups[g].functions.push_back(&f);
        groups[g].constants.push_back(*std::move(constants));
        is_new = false;
        break;
      }
    }
    if (!is_new) continue;
    Constants own;
    for (const llvm::Use* use : PlacesOf(&f)) {
      own.push_back(llvm::cast<Constant>(use->get()));
    }
    candidates.push_back(groups.size());
    groups.push_back({{&f}, {std::move(own)}});
  }
  groups.erase(
      std::remove_if(groups.begin(), groups.end(),
                     [](const Group& g) { return g.functions.size() == 1; }),
      groups.end());
  return groups;
}

// The constants in which a group's functions differ: for each place those of
// all functions.
struct Table {
  std::map<Constants, unsigned> index;  // by a value for each function
  std::vector<Constants> entries;
  llvm::StructType* type = nullptr;
};

// The constants at one place, of all functions.
Constants ValuesAt(const Group& group, size_t place) {
  Constants values;
  for (const Constants& of_function : group.constants) {
    values.push_back(of_function[place]);
  }
  return values;
}

Table TableOf(const Group& group, llvm::LLVMContext& context) {
  Table table;
  std::vector<llvm::Type*> types;
  for (size_t p = 0; p < group.constants[0].size(); ++p) {
    Constants values = ValuesAt(group, p);
    if (std::equal(values.begin() + 1, values.end(), values.begin())) continue;
    if (!table.index.try_emplace(values, table.entries.size()).second) continue;
    types.push_back(values[0]->getType()->getScalarType());
    table.entries.push_back(std::move(values));
  }
  table.type = llvm::StructType::get(context, types);
  return table;
}

llvm::Constant* ValuesOf(const Table& table, size_t function, Function* f) {
  Constants values;
  for (const Constants& entry : table.entries) {
    Constant* value = entry[function];
    values.push_back(value->getType()->isVectorTy() ? value->getSplatValue()
                                                    : value);
  }
  auto* variable = new llvm::GlobalVariable(
      *f->getParent(), table.type, /*isConstant=*/true,
      llvm::GlobalValue::PrivateLinkage,
      llvm::ConstantStruct::get(table.type, values), f->getName() + ".table");
  variable->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  variable->setAlignment(llvm::Align(8));
  return variable;
}

// Makes `shared`, which is empty, of the first function's code.
void FillShared(const Group& group, const Table& table, Function* shared) {
  Function* first = group.functions[0];
  const std::vector<llvm::Use*> places = PlacesOf(first);
  shared->splice(shared->begin(), first);
  for (unsigned i = 0; i < first->arg_size(); ++i) {
    shared->getArg(i)->setName(first->getArg(i)->getName());
    first->getArg(i)->replaceAllUsesWith(shared->getArg(i));
  }
  if (table.entries.empty()) return;
  llvm::Argument* from = shared->getArg(first->arg_size());
  from->setName("table");
  llvm::BasicBlock& entry = shared->getEntryBlock();
  llvm::IRBuilder<> b(&entry, entry.begin());
  std::vector<llvm::Value*> loaded;
  for (unsigned i = 0; i < table.entries.size(); ++i) {
    llvm::Type* type = table.entries[i][0]->getType();
    llvm::LoadInst* load = b.CreateLoad(type->getScalarType(),
                                        b.CreateStructGEP(table.type, from, i));
    load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                      llvm::MDNode::get(shared->getContext(), {}));
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    loaded.push_back(vector == nullptr
                         ? static_cast<llvm::Value*>(load)
                         : b.CreateVectorSplat(vector->getNumElements(), load));
  }
  for (size_t p = 0; p < places.size(); ++p) {
    const auto found = table.index.find(ValuesAt(group, p));
    if (found != table.index.end()) places[p]->set(loaded[found->second]);
  }
}

// A function with the first one's attributes, and the table's address behind
// its parameters if there is a table.
Function* NewShared(const Group& group, const Table& table) {
  Function* first = group.functions[0];
  llvm::LLVMContext& context = first->getContext();
  std::vector<llvm::Type*> types = first->getFunctionType()->params().vec();
  if (!table.entries.empty()) {
    types.push_back(llvm::PointerType::getUnqual(context));
  }
  Function* shared = Function::Create(
      llvm::FunctionType::get(first->getReturnType(), types, false),
      llvm::GlobalValue::InternalLinkage, first->getName() + ".shared",
      first->getParent());
  shared->copyAttributesFrom(first);
  // Neither is a copy made for each table.
  shared->addFnAttr(llvm::Attribute::NoDuplicate);
  for (unsigned i = 0; i < first->arg_size(); ++i) {
    uint64_t bytes = UINT64_MAX;
    for (const Function* f : group.functions) {
      bytes = std::min(bytes, f->getParamDereferenceableBytes(i));
    }
    if (bytes == 0) continue;
    shared->removeParamAttr(i, llvm::Attribute::Dereferenceable);
    shared->addDereferenceableParamAttr(i, bytes);
  }
  if (!table.entries.empty()) {
    llvm::AttrBuilder attributes(context);
    attributes.addAttribute(llvm::Attribute::NoAlias);
    attributes.addAttribute(llvm::Attribute::NoCapture);
    attributes.addAttribute(llvm::Attribute::NoUndef);
    attributes.addAttribute(llvm::Attribute::ReadOnly);
    attributes.addAlignmentAttr(llvm::Align(8));
    attributes.addDereferenceableAttr(
        first->getParent()->getDataLayout().getTypeAllocSize(table.type));
    shared->addParamAttrs(first->arg_size(), attributes);
  }
  return shared;
}

bool IsOnlyCalled(const Function& f) {
  return std::all_of(f.user_begin(), f.user_end(), [&](const llvm::User* user) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(user);
    return call != nullptr && call->getCalledFunction() == &f &&
           !call->hasArgument(&f);
  });
}

llvm::CallInst* Call(llvm::IRBuilder<>* b, Function* shared,
                     std::vector<llvm::Value*> args, Constant* table) {
  if (table != nullptr) args.push_back(table);
  return b->CreateCall(shared, args);
}

// Puts a call of the shared code in place of `f`.
void Replace(Function* f, Function* shared, Constant* table) {
  if (f->hasLocalLinkage() && IsOnlyCalled(*f)) {
    for (llvm::User* user : llvm::make_early_inc_range(f->users())) {
      auto* call = llvm::cast<llvm::CallInst>(user);
      llvm::IRBuilder<> b(call);
      llvm::CallInst* other =
          Call(&b, shared, {call->arg_begin(), call->arg_end()}, table);
      other->setTailCallKind(call->getTailCallKind());
      call->replaceAllUsesWith(other);
      call->eraseFromParent();
    }
    f->eraseFromParent();
    return;
  }
  const llvm::GlobalValue::LinkageTypes linkage = f->getLinkage();
  f->deleteBody();  // which makes it external
  f->setLinkage(linkage);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(f->getContext(), "entry", f));
  std::vector<llvm::Value*> args;
  for (llvm::Argument& argument : f->args()) args.push_back(&argument);
  llvm::CallInst* call = Call(&b, shared, std::move(args), table);
  call->setTailCallKind(llvm::CallInst::TCK_Tail);
  if (call->getType()->isVoidTy()) {
    b.CreateRetVoid();
  } else {
    b.CreateRet(call);
  }
}

}  // namespace

void ShareFunctions(llvm::Module* module) {
  for (const Group& group : FindGroups(module)) {
    const Table table = TableOf(group, module->getContext());
    Function* shared = NewShared(group, table);
    FillShared(group, table, shared);
    for (size_t i = 0; i < group.functions.size(); ++i) {
      Replace(group.functions[i], shared,
              table.entries.empty() ? nullptr
                                    : ValuesOf(table, i, group.functions[i]));
    }
  }
}

}  // namespace ingot::codegen
