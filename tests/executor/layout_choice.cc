#include "tests/executor/layout_choice.h"

#include <algorithm>

#include "absl/types/span.h"
#include "planner/data/embedded.h"

namespace meshwright::trial {

// chosen_layouts.txt alone, which is compiled in: binaries run where the sources are not, too.
absl::Span<const planner::EmbeddedFile> EmbeddedChosenLayouts();

namespace {

std::vector<ChosenLayout> ReadChosenLayouts() {
  std::vector<ChosenLayout> chosen;
  std::string_view rest = EmbeddedChosenLayouts().front().text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const size_t space = line.find(' ');
    if (space != std::string_view::npos) {
      chosen.push_back({line.substr(0, space), line.substr(space + 1)});
    }
  }
  return chosen;
}

}  // namespace

const std::vector<ChosenLayout>& ChosenLayouts() {
  static const auto& chosen = *new std::vector<ChosenLayout>(ReadChosenLayouts());
  return chosen;
}

bool IsChosen(std::string_view table, std::string_view name) {
  const std::vector<ChosenLayout>& chosen = ChosenLayouts();
  return std::any_of(chosen.begin(), chosen.end(), [&](const ChosenLayout& one) {
    return one.table == table && one.name == name;
  });
}

}  // namespace meshwright::trial
