#include "tools/cli/common/refusals_text.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_format.h"
#include "tools/cli/io/text.h"

namespace meshwright::cli {
namespace {

constexpr size_t kShownRows = 10;   // of the unreadable ones
constexpr size_t kShownValues = 3;  // of one cause of refusal

std::string DescribeValues(const planner::Refusal& refusal) {
  const auto& values = refusal.values;
  if (refusal.is_rule) return "for example, " + values.front().first;
  std::string text;
  for (size_t i = 0; i < std::min(values.size(), kShownValues); ++i) {
    if (i > 0) text += "; ";
    text += values[i].first;
    if (values.size() > 1) text += " (" + FormatCount(values[i].second) + ")";
  }
  if (values.size() > kShownValues) {
    text += absl::StrFormat("; %d more", values.size() - kShownValues);
  }
  return text;
}

std::string AllIn(std::string_view all_in) {
  return all_in.empty() ? "" : " (" + std::string(all_in) + ")";
}

}  // namespace

void PrintRefusals(const planner::Refusals& refusals, std::string_view all_in, std::ostream& out) {
  const auto& unreadable = refusals.unreadable;
  if (!unreadable.empty()) {
    out << "\nUnreadable rows, " << FormatCount(static_cast<int64_t>(unreadable.size()))
        << AllIn(all_in) << ":\n";
  }
  for (size_t i = 0; i < std::min(unreadable.size(), kShownRows); ++i) {
    const planner::UnreadableRow& row = unreadable[i];
    out << "  " << row.file << (row.file.empty() ? "" : " ") << row.reason << "\n";
  }
  if (unreadable.size() > kShownRows) {
    out << absl::StrFormat("  %d more\n", unreadable.size() - kShownRows);
  }
  if (refusals.not_modelled.empty()) return;
  out << "\nNot modelled" << AllIn(all_in) << ":\n";
  for (const planner::Refusal& refusal : refusals.not_modelled) {
    const std::string values = DescribeValues(refusal);
    out << absl::StrFormat("%7s  %s%s\n", FormatCount(refusal.rows), refusal.cause,
                           values == "(empty)" ? "" : " [" + values + "]");
  }
}

}  // namespace meshwright::cli
