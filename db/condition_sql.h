// CompileCondition() turns a condition on measurements into SQL. The SQL text has only names of
// columns and parameters. Values from a request are bound, and are never part of the text.
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
  std::string text;  // an expression that is 0 or 1, and never NULL
  // The values of the parameters, in order. Values of planner::ValueType::kWord are texts.
  std::vector<planner::ConditionValue> values;

  // Binds the values. REQUIRES: all parameters before `first_parameter` (CompileCondition()) are
  // bound.
  void BindTo(SqliteStatement& statement) const;
};

// The table on whose rows a condition is tested. If table `measurements` lacks a column that the
// condition names, the SQL looks the value up in a facet's table. A condition that concerns one
// facet alone can be tested on that facet's table.
enum class SearchedTable : uint8_t { kMeasurements, kFacet };

// Returns the condition as SQL whose parameters are numbered from `first_parameter` on. `bounded`
// names the column by which the search itself selects a range of an index, if any; the condition's
// comparisons with that column are then kept from using the index. REQUIRES: fields and values are
// as ParseMeasurementCondition() returns them.
ConditionSql CompileCondition(const planner::Condition& condition, SearchedTable table,
                              int first_parameter, std::string_view bounded = {});

// Returns the part of the condition that depends on the columns of one facet alone. Every row that
// meets the condition meets this part. If the condition has no such part, returns a condition that
// always holds.
planner::Condition PartAbout(MeasurementFacet facet, const planner::Condition& condition);

// Returns whether the condition requires one model, one cluster and one outcome.
bool FixesModelClusterAndOutcome(const planner::Condition& condition);

}  // namespace meshwright::db
