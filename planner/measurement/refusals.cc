#include "planner/measurement/refusals.h"

#include <algorithm>
#include <map>

#include "planner/measurement/planned_row.h"

namespace meshwright::planner {
namespace {

struct Cause {
  std::string name;
  bool is_rule = false;
  std::string value;
};

// Takes "column = value: problem" apart; a broken rule is its own cause, with the sentence as the
// value.
Cause CauseOf(const RowPrediction& row) {
  const std::string start = row.subject + " = ";
  const size_t colon = row.reason.rfind(": ");
  if (!row.reason.starts_with(start) || colon == std::string::npos) {
    return {row.subject, true, row.reason};
  }
  return {row.subject + ": " + row.reason.substr(colon + 2), false,
          row.reason.substr(start.size(), colon - start.size())};
}

}  // namespace

Refusals CountRefusals(absl::Span<const RowPrediction> rows) {
  Refusals refusals;
  std::map<std::string, Refusal> causes;
  std::map<std::string, std::map<std::string, int64_t>> values;
  for (const RowPrediction& row : rows) {
    if (row.reason.empty()) continue;
    if (row.subject == kUnreadable) {
      refusals.unreadable.push_back({row.file, row.line, row.reason});
      continue;
    }
    const Cause cause = CauseOf(row);
    Refusal& refusal = causes[cause.name];
    refusal.cause = cause.name;
    refusal.is_rule = cause.is_rule;
    ++refusal.rows;
    ++values[cause.name][cause.value];
  }
  for (auto& [name, refusal] : causes) {
    refusal.values.assign(values[name].begin(), values[name].end());
    std::stable_sort(refusal.values.begin(), refusal.values.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    refusals.not_modelled.push_back(std::move(refusal));
  }
  std::stable_sort(refusals.not_modelled.begin(), refusals.not_modelled.end(),
                   [](const Refusal& a, const Refusal& b) { return a.rows > b.rows; });
  return refusals;
}

}  // namespace meshwright::planner
