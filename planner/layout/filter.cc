#include "planner/layout/filter.h"

#include "planner/layout/layout.h"

namespace meshwright::planner {
namespace {

std::string_view Sign(Comparison comparison) {
  constexpr std::array<std::string_view, 7> kSigns = {"=", "!=", "<", "<=", ">", ">=", "in"};
  return kSigns[static_cast<size_t>(comparison)];
}

std::string FormatValue(FilterField field, int64_t value) {
  const std::vector<std::string_view> words = FilterWords(field);
  return words.empty() ? std::to_string(value) : std::string(words[static_cast<size_t>(value)]);
}

std::string FormatComparison(const Filter& filter) {
  std::string text(FilterFieldName(filter.field));
  text.append(" ").append(Sign(filter.comparison)).append(" ");
  if (filter.comparison != Comparison::kIn) {
    return text + FormatValue(filter.field, filter.values.front());
  }
  const char* separator = "(";
  for (const int64_t value : filter.values) {
    text.append(separator).append(FormatValue(filter.field, value));
    separator = ", ";
  }
  return text + ")";
}

// A part of a larger filter of the kind `whole`. In parentheses only where it needs them: what is
// read at the deepest level can be read again.
std::string FormatPart(const Filter& part, Filter::Kind whole) {
  const bool joins = part.kind == Filter::Kind::kAll || part.kind == Filter::Kind::kAny;
  const bool binds_closer = part.kind == Filter::Kind::kAll && whole == Filter::Kind::kAny;
  return joins && !binds_closer ? "(" + FormatFilter(part) + ")" : FormatFilter(part);
}

}  // namespace

std::string FormatFilter(const Filter& filter) {
  if (filter.kind == Filter::Kind::kCompare) return FormatComparison(filter);
  if (filter.kind == Filter::Kind::kNot) {
    return "not " + FormatPart(filter.parts.front(), filter.kind);
  }
  const std::string_view join = filter.kind == Filter::Kind::kAll ? " and " : " or ";
  std::string text;
  for (const Filter& part : filter.parts) {
    if (!text.empty()) text.append(join);
    text.append(FormatPart(part, filter.kind));
  }
  return text;
}

std::vector<std::string_view> FilterWords(FilterField field) {
  std::vector<std::string_view> words;
  if (field == FilterField::kRecompute) {
    for (const Recompute recompute : {Recompute::kNone, Recompute::kSelective, Recompute::kFull,
                                      Recompute::kBlock, Recompute::kModules}) {
      words.push_back(RecomputeName(recompute));
    }
  }
  if (field == FilterField::kSchedule) {
    for (const ScheduleKind schedule :
         {ScheduleKind::kGpipe, ScheduleKind::k1f1b, ScheduleKind::kInterleaved,
          ScheduleKind::kBreadthFirst, ScheduleKind::kZbH1, ScheduleKind::kZbV}) {
      words.push_back(ScheduleName(schedule));
    }
  }
  return words;
}

}  // namespace meshwright::planner
