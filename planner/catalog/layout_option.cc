#include "planner/catalog/layout_option.h"

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/spec/option_choice.h"
#include "planner/spec/run_option_table.h"

namespace meshwright::planner {

absl::Status SetLayoutOption(std::string_view field, std::string_view name, std::string_view value,
                             TrainingSpec& training) {
  const RunOptions asked = training.options;
  RETURN_IF_ERROR(SetOption(field, name, value, training));
  for (const RunOption& option : kRunOptions) {
    const std::string set = option.text(training.options);
    if (!option.chooses_profile || option.text(asked) == set) continue;
    return FieldError(
        field, absl::StrCat(AbslView(option.name), "=", set),
        absl::StrCat("is about another profile of the framework than the search; must "
                     "be given for all layouts, as ",
                     AbslView(option.name), " of the question"));
  }
  return absl::OkStatus();
}

}  // namespace meshwright::planner
