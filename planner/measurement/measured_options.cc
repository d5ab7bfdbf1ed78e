#include "planner/measurement/measured_options.h"

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/measurement/noted_values.h"
#include "planner/measurement/source_words.h"
#include "planner/spec/option_choice.h"

namespace meshwright::planner {

std::string StatedOption(const Measurement& row, std::string_view option) {
  const auto cell = row.other_cells.find(option);
  if (cell != row.other_cells.end()) return absl::AsciiStrToLower(cell->second);
  // experts=N in notes is the model's number of experts (planner/measurement/expert_notes.h).
  const std::vector<std::string_view> noted =
      option == "experts" ? std::vector<std::string_view>() : NotedValues(row.notes, option);
  return absl::AsciiStrToLower(
      AbslView(noted.empty() ? NotedOption(option, row.notes) : noted.front()));
}

absl::Status ReadMeasuredOptions(const Measurement& row, TrainingSpec& training) {
  for (const std::string_view option : OptionNames()) {
    const std::string value = StatedOption(row, option);
    if (!value.empty()) RETURN_IF_ERROR(SetOption(option, option, value, training));
  }
  return absl::OkStatus();
}

}  // namespace meshwright::planner
