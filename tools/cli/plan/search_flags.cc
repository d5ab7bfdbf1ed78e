#include "tools/cli/plan/search_flags.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "planner/spec/option_choice.h"

namespace meshwright::cli {

void SearchFlags::Add(CLI::App& app) {
  const std::string names =
      absl::StrJoin(planner::SearchableOptions(), ", ",
                    [](std::string* out, std::string_view name) { out->append(name); });
  app.add_option(
         "--search", options,
         absl::StrCat("Search these values of an option in addition to layouts, such as "
                      "loss=plain,chunked:8; without values, all values that the framework has. "
                      "Commas divide values, so a value that is a list has + in place of its "
                      "commas: states=bf16,master=none+grad=bf16. Repeat the flag for several "
                      "options, up to ",
                      planner::kMostOptionChoices, " combinations; of ", names))
      ->option_text("OPTION[=VALUES]")
      ->allow_extra_args(false);
}

}  // namespace meshwright::cli
