#ifndef INGOT_RUNTIME_MODULE_H_
#define INGOT_RUNTIME_MODULE_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/function.h"

namespace ingot {

// A set of functions that something loaded: a shared library, an engine's
// graphs. It only runs things; it is no container of artifacts. Modules form a
// directed graph without cycles through their imports.
//
// Import while no other thread uses the module; everything else is const and
// safe from several threads.
class Module : public std::enable_shared_from_this<Module> {
 public:
  virtual ~Module() = default;

  // The loader that made it: "native", "dnnl". For messages.
  virtual absl::string_view kind() const = 0;

  // The module's own function of that name, imports not asked; none if there is
  // none. The function must own what its code needs, which as a rule is
  // shared_from_this().
  virtual std::optional<Function> GetFunction(absl::string_view name) const = 0;

  // The names that GetFunction knows, sorted, where that is known.
  virtual std::vector<std::string> FunctionNames() const { return {}; }

  // Adds `module` after the imports so far. InvalidArgument if it is null, is
  // this module or imports it, directly or not. Importing it again does
  // nothing.
  absl::Status Import(std::shared_ptr<Module> module);
  absl::Span<const std::shared_ptr<Module>> imports() const { return imports_; }

  // Looks in this module, then in its imports, depth first in the order of
  // import. NotFound names the modules that were searched.
  absl::StatusOr<Function> Find(absl::string_view name) const;

 private:
  std::vector<std::shared_ptr<Module>> imports_;
};

// A module that is a table of functions: for tests, and for loaders that
// prepare a function per graph.
class TableModule : public Module {
 public:
  explicit TableModule(absl::string_view kind) : kind_(kind) {}

  // AlreadyExists names a name that is taken, InvalidArgument an undefined
  // function. Not while another thread uses the module.
  absl::Status Add(absl::string_view name, Function function);

  absl::string_view kind() const override { return kind_; }
  std::optional<Function> GetFunction(absl::string_view name) const override;
  std::vector<std::string> FunctionNames() const override;

 private:
  std::string kind_;
  std::map<std::string, Function, std::less<>> functions_;
};

}  // namespace ingot

#endif  // INGOT_RUNTIME_MODULE_H_
