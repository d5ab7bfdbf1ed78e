// Conditions on measurements as SQL: column names of the table alone and parameters, never a word
// of who asks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "db/measurement.h"
#include "db/sqlite.h"
#include "planner/layout/condition.h"

namespace meshwright::db {

struct ConditionSql {
  std::string text;                             // an expression that is 0 or 1, and never NULL
  std::vector<planner::ConditionValue> values;  // of its parameters, in order; words as texts

  // Requires that all parameters before its first one are bound.
  void BindTo(SqliteStatement& statement) const;
};

// The table whose rows a condition is asked of: `measurements`, which looks up in its facets what
// it has no column of, or the table of a facet that the whole condition is about.
enum class SearchedTable : uint8_t { kMeasurements, kFacet };

// Requires fields and values as ParseMeasurementCondition() gives them. Its parameters are numbered
// from `first_parameter` on. Where a search says itself which part of an index it reads by bounds
// of the column `bounded`, the condition's own bounds of that column leave the index to it.
ConditionSql CompileCondition(const planner::Condition& condition, SearchedTable table,
                              int first_parameter, std::string_view bounded = {});

// What of the condition the columns of one facet decide: it holds of every row that meets the
// condition, and always where they decide nothing.
planner::Condition PartAbout(MeasurementFacet facet, const planner::Condition& condition);

// Whether every row that meets the condition has one model, one cluster and one outcome.
bool FixesModelClusterAndOutcome(const planner::Condition& condition);

}  // namespace meshwright::db
