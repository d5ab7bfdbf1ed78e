// Conditions on measurements as SQL. The text has only names of columns and parameters. Values from
// a request are bound, and never a part of the text.
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

  // Binds the values. REQUIRES: all parameters before the first of these are bound.
  void BindTo(SqliteStatement& statement) const;
};

// The table on whose rows a condition is tested. A row of `measurements` looks up in its facets the
// values for which that table has no column. A condition that concerns one facet alone can be
// tested on the table of that facet.
enum class SearchedTable : uint8_t { kMeasurements, kFacet };

// Returns the condition as SQL whose parameters are numbered from `first_parameter` on. A search
// may itself bound the column `bounded`, to say which part of an index it reads. The comparisons of
// the condition with that column then do not use the index. REQUIRES: fields and values are as
// ParseMeasurementCondition() gives them.
ConditionSql CompileCondition(const planner::Condition& condition, SearchedTable table,
                              int first_parameter, std::string_view bounded = {});

// Returns the part of the condition that the columns of one facet decide. Every row that meets the
// condition meets this part. If the facet decides nothing, the part always holds.
planner::Condition PartAbout(MeasurementFacet facet, const planner::Condition& condition);

// Returns whether the condition requires one model, one cluster and one outcome.
bool FixesModelClusterAndOutcome(const planner::Condition& condition);

}  // namespace meshwright::db
