#include "artifact/variants.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "artifact/loader_names.h"
#include "artifact/names.h"
#include "artifact/target_keys.h"
#include "base/status_macros.h"

namespace ingot {
namespace {

// The key in the combined set of what has the key `key` in the variant, and the
// other way round.
std::string CombinedKey(absl::string_view variant, absl::string_view key) {
  return key == kDefaultTargetKey ? std::string(variant)
                                  : absl::StrCat(variant, ".", key);
}
std::string OwnKey(absl::string_view variant, absl::string_view combined) {
  return combined == variant ? std::string(kDefaultTargetKey)
                             : std::string(combined.substr(variant.size() + 1));
}

// Whether every variant has the same artifact of this path.
bool IsShared(const Artifact& artifact, absl::Span<const Variant> variants) {
  if (artifact.loader != kConstantsLoader ||
      artifact.target_key != kDefaultTargetKey) {
    return false;
  }
  return std::all_of(
      variants.begin(), variants.end(), [&artifact](const Variant& variant) {
        const Artifact* other = variant.set.Find(
            artifact.target_key, artifact.codegen_id, artifact.file_name);
        return other != nullptr && other->loader == artifact.loader &&
               other->content.view() == artifact.content.view();
      });
}

bool HasOption(const Provenance& provenance, const Provenance::Option& option) {
  return std::any_of(provenance.options().begin(), provenance.options().end(),
                     [&option](const Provenance::Option& other) {
                       return other.name() == option.name() &&
                              other.value() == option.value();
                     });
}

// Refuses a `variant` that cannot be in one set with `first`, and says why.
absl::Status CheckAlike(const Variant& variant, const Variant& first) {
  INGOT_RETURN_IF_ERROR(CheckVariantName(variant.name));
  const Provenance& p = variant.set.provenance();
  const Provenance& q = first.set.provenance();
  const auto bad = [&variant](absl::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat("the variant ", variant.name, " ", why));
  };
  if (!p.variants().empty()) return bad("has variants itself");
  if (!p.library_key().empty()) return bad("is of a linked library");
  if (p.model_name() != q.model_name() ||
      p.model_sha256() != q.model_sha256()) {
    return bad(absl::StrCat("is of another model than ", first.name));
  }
  if (p.symbol_prefix() != q.symbol_prefix()) {
    return bad(absl::StrCat("has another symbol prefix than ", first.name));
  }
  if (p.ingot_version() != q.ingot_version()) {
    return bad(absl::StrCat("was made by another Ingot than ", first.name));
  }
  return absl::OkStatus();
}

// The provenance of all, with the variants' options apart from common ones.
Provenance CombineProvenances(absl::Span<const Variant> variants) {
  Provenance combined = variants[0].set.provenance();
  combined.clear_target();
  combined.clear_options();
  combined.clear_target_keys();
  std::vector<std::string> targets;
  const auto is_common = [variants](const Provenance::Option& option) {
    return std::all_of(variants.begin(), variants.end(),
                       [&option](const Variant& each) {
                         return HasOption(each.set.provenance(), option);
                       });
  };
  for (const Provenance::Option& option :
       variants[0].set.provenance().options()) {
    if (is_common(option)) *combined.add_options() = option;
  }
  for (const Variant& variant : variants) {
    const Provenance& own = variant.set.provenance();
    targets.push_back(absl::StrCat(variant.name, ": ", own.target()));
    Provenance::Variant* described = combined.add_variants();
    described->set_name(variant.name);
    described->set_target(own.target());
    for (const Provenance::Option& option : own.options()) {
      if (!is_common(option)) *described->add_options() = option;
    }
    for (const Provenance::TargetKey& key : own.target_keys()) {
      const std::string name = CombinedKey(variant.name, key.name());
      Provenance::TargetKey* copy = MutableTargetKey(&combined, name);
      *copy = key;
      copy->set_name(name);
    }
  }
  combined.set_target(absl::StrJoin(targets, "; "));
  return combined;
}

}  // namespace

absl::StatusOr<ArtifactSet> CombineVariants(
    absl::Span<const Variant> variants) {
  if (variants.empty()) return absl::InvalidArgumentError("no variants");
  ArtifactSet combined;
  for (const Variant& variant : variants) {
    INGOT_RETURN_IF_ERROR(CheckAlike(variant, variants[0]));
    for (const Artifact& artifact : variant.set.artifacts()) {
      const bool is_shared = IsShared(artifact, variants);
      if (is_shared && &variant != &variants[0]) continue;
      Artifact copy = artifact;
      if (!is_shared) {
        copy.target_key = CombinedKey(variant.name, artifact.target_key);
      }
      INGOT_RETURN_IF_ERROR(combined.Add(std::move(copy)));
    }
  }
  combined.mutable_provenance() = CombineProvenances(variants);
  INGOT_RETURN_IF_ERROR(CheckProvenance(combined.provenance()));
  return combined;
}

absl::string_view VariantOfKey(const Provenance& provenance,
                               absl::string_view key) {
  const absl::string_view start = key.substr(0, key.find('.'));
  for (const Provenance::Variant& variant : provenance.variants()) {
    if (variant.name() == start) return variant.name();
  }
  return "";
}

absl::StatusOr<ArtifactSet> SelectVariant(const ArtifactSet& set,
                                          absl::string_view name) {
  const Provenance& whole = set.provenance();
  const Provenance::Variant* described = nullptr;
  std::vector<std::string> names;
  for (const Provenance::Variant& variant : whole.variants()) {
    if (variant.name() == name) described = &variant;
    names.push_back(variant.name());
  }
  if (described == nullptr) {
    return absl::NotFoundError(absl::StrCat(
        "the set has no variant '", name, "'",
        names.empty()
            ? ", nor any other"
            : absl::StrCat("; it has: ", absl::StrJoin(names, ", "))));
  }

  ArtifactSet selected;
  for (const Artifact& artifact : set.artifacts()) {
    const absl::string_view owner = VariantOfKey(whole, artifact.target_key);
    if (!owner.empty() && owner != name) continue;
    Artifact copy = artifact;
    if (!owner.empty()) copy.target_key = OwnKey(name, artifact.target_key);
    if (absl::Status s = selected.Add(std::move(copy)); !s.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the variant ", name,
          " and what all share do not fit together: ", s.message()));
    }
  }
  Provenance& own = selected.mutable_provenance();
  own = whole;
  own.clear_variants();
  own.clear_target_keys();
  own.clear_library_key();
  own.set_target(described->target());
  for (const Provenance::Option& option : described->options()) {
    *own.add_options() = option;
  }
  for (const Provenance::TargetKey& key : whole.target_keys()) {
    const absl::string_view owner = VariantOfKey(whole, key.name());
    if (!owner.empty() && owner != name) continue;
    const std::string own_name =
        owner.empty() ? key.name() : OwnKey(name, key.name());
    Provenance::TargetKey* copy = MutableTargetKey(&own, own_name);
    *copy = key;
    copy->set_name(own_name);
  }
  if (VariantOfKey(whole, whole.library_key()) == name) {
    own.set_library_key(OwnKey(name, whole.library_key()));
  }
  return selected;
}

}  // namespace ingot
