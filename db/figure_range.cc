#include "db/figure_range.h"

#include <algorithm>
#include <cstdint>

namespace meshwright::db {
namespace {

using planner::Comparison;
using planner::Condition;
using planner::ConditionForm;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr FigureRange kNothing = {.least = kInfinity, .most = -kInfinity, .may_lack = false};

FigureRange Both(const FigureRange& a, const FigureRange& b) {
  return {.least = std::max(a.least, b.least),
          .most = std::min(a.most, b.most),
          .may_lack = a.may_lack && b.may_lack};
}

FigureRange Either(const FigureRange& a, const FigureRange& b) {
  return {.least = std::min(a.least, b.least),
          .most = std::max(a.most, b.most),
          .may_lack = a.may_lack || b.may_lack};
}

// A row without the figure satisfies no comparison with it.
FigureRange RangeOfComparison(const Condition& condition) {
  FigureRange range = {.may_lack = false};
  if (condition.comparison == Comparison::kNotEqual) return range;
  FigureRange values = kNothing;
  for (const planner::ConditionValue& value : condition.values) {
    const double figure = std::get<double>(value);
    values = Either(values, {.least = figure, .most = figure, .may_lack = false});
  }
  const bool below =
      condition.comparison == Comparison::kLess || condition.comparison == Comparison::kAtMost;
  const bool above =
      condition.comparison == Comparison::kMore || condition.comparison == Comparison::kAtLeast;
  if (!below) range.least = values.least;
  if (!above) range.most = values.most;
  return range;
}

FigureRange RangeOfField(std::string_view column, const Condition& condition) {
  FigureRange range;
  switch (condition.form) {
    case ConditionForm::kAll:
      for (const Condition& part : condition.parts) range = Both(range, RangeOfField(column, part));
      return range;
    case ConditionForm::kAny:
      range = kNothing;
      for (const Condition& part : condition.parts) {
        range = Either(range, RangeOfField(column, part));
      }
      return range;
    case ConditionForm::kNot:
      return range;
    case ConditionForm::kCompare:
      return MeasurementColumns()[condition.field].name == column ? RangeOfComparison(condition)
                                                                  : range;
  }
  return range;
}

}  // namespace

FigureRange RangeOf(MeasurementOrder order, const Condition& condition) {
  return RangeOfField(FigureColumn(order), condition);
}

MeasurementQuery WithinRange(MeasurementQuery query) {
  const FigureRange range = RangeOf(query.order, query.where);
  if (range.may_lack) return query;
  const bool falls = query.order == MeasurementOrder::kMfu;
  const MeasurementPlace first = {.id = 0, .figure = falls ? range.most : range.least};
  const MeasurementPlace last = {.id = std::numeric_limits<int64_t>::max(),
                                 .figure = falls ? range.least : range.most};
  if (!query.after || ComesBefore(query.order, *query.after, first)) query.after = first;
  if (!query.until || ComesBefore(query.order, last, *query.until)) query.until = last;
  return query;
}

}  // namespace meshwright::db
