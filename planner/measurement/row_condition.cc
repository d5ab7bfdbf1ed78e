#include "planner/measurement/row_condition.h"

#include <algorithm>
#include <array>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/measurement/source_words.h"

namespace meshwright::planner {
namespace {

// The longer signs go first: ">=" contains "=".
constexpr std::array<std::string_view, 3> kSigns = {">=", "<=", "="};

struct ColumnComparison {
  std::string column;
  std::string_view sign;
  std::string value;
};

absl::Status ConditionError(std::string_view text) {
  return FieldError("rows", text,
                    "must be comparisons divided by ';', each of a column with =, >= or <= and a "
                    "value, such as framework = megatron; hidden >= 3072");
}

std::string Trimmed(std::string_view text) {
  return std::string(absl::StripAsciiWhitespace(AbslView(text)));
}

absl::StatusOr<ColumnComparison> ParseComparison(std::string_view text) {
  for (const std::string_view sign : kSigns) {
    const size_t at = text.find(sign);
    if (at == std::string_view::npos) continue;
    ColumnComparison comparison = {Trimmed(text.substr(0, at)), sign,
                                   Trimmed(text.substr(at + sign.size()))};
    const std::vector<std::string> columns = MeasurementColumnNames();
    const bool known =
        std::find(columns.begin(), columns.end(), comparison.column) != columns.end();
    if (!known || comparison.value.empty()) return ConditionError(text);
    return comparison;
  }
  return ConditionError(text);
}

constexpr std::string_view kEmpty = "(empty)";

bool HasWords(std::string cell, std::string_view words) {
  if (absl::StripAsciiWhitespace(AbslView(words)) == AbslView(kEmpty)) return cell.empty();
  // ';' divides remarks of notes, and ':' the parts of a sweep's name.
  std::replace(cell.begin(), cell.end(), ';', ' ');
  std::replace(cell.begin(), cell.end(), ':', ' ');
  const std::string padded = absl::StrCat(" ", PlainWords(cell), " ");
  return absl::StrContains(padded, absl::StrCat(" ", PlainWords(words), " "));
}

bool HasAnyWords(const std::string& cell, const std::string& alternatives) {
  const std::vector<std::string> words = absl::StrSplit(alternatives, '|');
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return HasWords(cell, word); });
}

absl::StatusOr<bool> NumberHolds(const ColumnComparison& comparison, const std::string& cell) {
  int64_t bound = 0;
  if (!absl::SimpleAtoi(comparison.value, &bound)) return ConditionError(comparison.value);
  int64_t value = 0;
  if (!absl::SimpleAtoi(cell, &value)) return false;
  return comparison.sign == ">=" ? value >= bound : value <= bound;
}

absl::StatusOr<bool> Holds(const ColumnComparison& comparison, const Measurement& row) {
  const std::string cell = CellText(row, comparison.column);
  if (comparison.sign == "=") return HasAnyWords(cell, comparison.value);
  return NumberHolds(comparison, cell);
}

}  // namespace

absl::StatusOr<int32_t> ComparisonsThatHold(std::string_view condition, const Measurement& row) {
  int32_t comparisons = 0;
  for (const std::string& text :
       std::vector<std::string>(absl::StrSplit(AbslView(condition), ';'))) {
    ASSIGN_OR_RETURN(const ColumnComparison comparison, ParseComparison(text));
    ASSIGN_OR_RETURN(const bool holds, Holds(comparison, row));
    if (!holds) return 0;
    ++comparisons;
  }
  return comparisons;
}

absl::StatusOr<int32_t> MostComparisonsThatHold(const std::vector<std::string>& conditions,
                                                const Measurement& row) {
  int32_t most = 0;
  for (const std::string& condition : conditions) {
    ASSIGN_OR_RETURN(const int32_t comparisons, ComparisonsThatHold(condition, row));
    most = std::max(most, comparisons);
  }
  return most;
}

}  // namespace meshwright::planner
