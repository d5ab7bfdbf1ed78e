#include "planner/catalog/profile_variants.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/catalog/catalog.h"
#include "planner/spec/run_option_table.h"

namespace meshwright::planner {
namespace {

absl::Status NoVariant(const FrameworkProfile& profile, const RunOption& option,
                       const std::string& value) {
  const std::string prefix = absl::StrCat(AbslView(option.name), "=");
  std::vector<std::string> values;
  for (const auto& [variant, name] : profile.variants) {
    if (absl::StartsWith(variant, prefix)) values.push_back(variant.substr(prefix.size()));
  }
  if (values.empty()) {
    return FieldError(option.name, value,
                      absl::StrCat("has no effect that is modelled for ", profile.name,
                                   "; must be left out"));
  }
  return FieldError(option.name, value,
                    absl::StrCat("is not modelled for ", profile.name, "; must be ",
                                 absl::StrJoin(values, " or "), ", or be left out"));
}

}  // namespace

absl::StatusOr<FrameworkProfile> VariantOf(FrameworkProfile profile, const RunOptions& options) {
  for (const RunOption& option : kRunOptions) {
    if (!option.chooses_profile || HasDefault(option, options)) continue;
    const std::string value = option.text(options);
    const std::string wanted = absl::StrCat(AbslView(option.name), "=", value);
    const std::string* found = nullptr;
    for (const auto& [variant, name] : profile.variants) {
      if (variant == wanted) found = &name;
    }
    if (found == nullptr) return NoVariant(profile, option, value);
    if (*found == profile.name) continue;
    const std::string next = *found;
    ASSIGN_OR_RETURN(profile, FindProfile(next));
  }
  return profile;
}

}  // namespace meshwright::planner
