#include "planner/layout/filter_match.h"

#include <algorithm>

namespace meshwright::planner {

int64_t FilterValueOf(FilterField field, const Layout& layout) {
  switch (field) {
    case FilterField::kTp:
      return layout.tp;
    case FilterField::kCp:
      return layout.cp;
    case FilterField::kPp:
      return layout.pp;
    case FilterField::kDp:
      return layout.dp;
    case FilterField::kEp:
      return layout.ep;
    case FilterField::kEtp:
      return layout.etp;
    case FilterField::kMicroBatch:
      return layout.micro_batch;
    case FilterField::kVpp:
      return layout.vpp;
    case FilterField::kZero:
      return layout.zero;
    case FilterField::kSequenceParallel:
      return layout.sequence_parallel ? 1 : 0;
    case FilterField::kShardRanks:
      return layout.shard_ranks;
    case FilterField::kRecompute:
      return static_cast<int64_t>(layout.recompute);
    case FilterField::kSchedule:
      return static_cast<int64_t>(layout.schedule);
  }
  return 0;
}

namespace {

bool Compare(const Filter& filter, const Layout& layout) {
  const int64_t value = FilterValueOf(filter.field, layout);
  const int64_t other = filter.values.front();
  switch (filter.comparison) {
    case Comparison::kEqual:
      return value == other;
    case Comparison::kNotEqual:
      return value != other;
    case Comparison::kLess:
      return value < other;
    case Comparison::kAtMost:
      return value <= other;
    case Comparison::kMore:
      return value > other;
    case Comparison::kAtLeast:
      return value >= other;
    case Comparison::kIn:
      return std::find(filter.values.begin(), filter.values.end(), value) != filter.values.end();
  }
  return false;
}

}  // namespace

bool Matches(const Filter& filter, const Layout& layout) {
  const auto matches = [&layout](const Filter& part) { return Matches(part, layout); };
  switch (filter.kind) {
    case Filter::Kind::kAll:
      return std::all_of(filter.parts.begin(), filter.parts.end(), matches);
    case Filter::Kind::kAny:
      return std::any_of(filter.parts.begin(), filter.parts.end(), matches);
    case Filter::Kind::kNot:
      return !Matches(filter.parts.front(), layout);
    case Filter::Kind::kCompare:
      return Compare(filter, layout);
  }
  return false;
}

}  // namespace meshwright::planner
