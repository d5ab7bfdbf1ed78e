#include "db/condition_sql.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/string_view.h"

namespace meshwright::db {
namespace {

using planner::Comparison;
using planner::Condition;
using planner::ConditionField;
using planner::ConditionForm;
using planner::ConditionValue;

absl::string_view Sign(Comparison comparison) {
  constexpr std::array<absl::string_view, 7> kSigns = {"=", "<>", "<", "<=", ">", ">=", "IN"};
  return kSigns[static_cast<size_t>(comparison)];
}

bool IsBound(Comparison comparison) {
  return comparison == Comparison::kLess || comparison == Comparison::kAtMost ||
         comparison == Comparison::kMore || comparison == Comparison::kAtLeast;
}

// The last column that it needs, of columns in the order of an index's rows.
size_t LastColumn(const Condition& condition) {
  if (condition.form == ConditionForm::kCompare) {
    // A lookup in a facet costs more than any column.
    const MeasurementColumn& column = MeasurementColumns()[condition.field];
    return condition.field + (column.in_facet_alone ? MeasurementColumns().size() : 0);
  }
  size_t last = 0;
  for (const Condition& part : condition.parts) last = std::max(last, LastColumn(part));
  return last;
}

// As SQLite is to look at them: it stops at the first that does not hold, and reading a column
// takes longer the further behind in its row it stands.
std::vector<const Condition*> CheapestFirst(const std::vector<Condition>& parts) {
  std::vector<const Condition*> sorted;
  sorted.reserve(parts.size());
  for (const Condition& part : parts) sorted.push_back(&part);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Condition* a, const Condition* b) {
    return LastColumn(*a) < LastColumn(*b);
  });
  return sorted;
}

const FacetTable& TableOf(MeasurementFacet facet) {
  return *std::find_if(kFacetTables.begin(), kFacetTables.end(),
                       [&](const FacetTable& table) { return table.facet == facet; });
}

class Compiler {
 public:
  Compiler(SearchedTable table, int first_parameter, std::string_view bounded)
      : table_(table), first_parameter_(first_parameter), bounded_(bounded) {}

  void Add(const Condition& condition) {
    switch (condition.form) {
      case ConditionForm::kAll:
        return Join(condition, " AND ", "1");
      case ConditionForm::kAny:
        return Join(condition, " OR ", "0");
      case ConditionForm::kNot:
        absl::StrAppend(&sql_.text, "NOT (");
        Add(condition.parts.front());
        sql_.text += ')';
        return;
      case ConditionForm::kCompare:
        return Compare(condition);
    }
  }
  ConditionSql Take() { return std::move(sql_); }

 private:
  void Join(const Condition& condition, absl::string_view word, absl::string_view none) {
    if (condition.parts.empty()) absl::StrAppend(&sql_.text, none);
    absl::string_view before;
    for (const Condition* part : CheapestFirst(condition.parts)) {
      absl::StrAppend(&sql_.text, before, "(");
      Add(*part);
      sql_.text += ')';
      before = word;
    }
  }

  void Compare(const Condition& condition) {
    const MeasurementColumn& column = MeasurementColumns()[condition.field];
    const bool looks_up = column.in_facet_alone && table_ == SearchedTable::kMeasurements;
    if (looks_up) {
      const FacetTable& facet = TableOf(column.facet);
      absl::StrAppend(&sql_.text, AbslView(facet.key), " IN (SELECT ", AbslView(facet.key),
                      " FROM ", AbslView(facet.table), " WHERE ");
    }
    // NULL compares as NULL, of which NOT is NULL again; but not by IS.
    const bool equal = condition.comparison == Comparison::kEqual;
    if (column.may_be_null && !equal) {
      absl::StrAppend(&sql_.text, AbslView(column.name), " IS NOT NULL AND ");
    }
    // SQLite looks up no column with a sign in front.
    const bool leaves_index = column.name == bounded_ && IsBound(condition.comparison);
    absl::StrAppend(&sql_.text, leaves_index ? "+" : "", AbslView(column.name), " ",
                    column.may_be_null && equal ? "IS" : Sign(condition.comparison), " ");
    const bool list = condition.comparison == Comparison::kIn;
    if (list) sql_.text += '(';
    for (size_t i = 0; i < condition.values.size(); ++i) {
      absl::StrAppend(&sql_.text, i > 0 ? ", ?" : "?",
                      static_cast<size_t>(first_parameter_) + sql_.values.size());
      sql_.values.push_back(Stored(condition.field, condition.values[i]));
    }
    if (list) sql_.text += ')';
    if (looks_up) sql_.text += ')';
  }

  static ConditionValue Stored(size_t index, const ConditionValue& value) {
    const ConditionField& field = MeasurementFields()[index];
    if (field.type != planner::ValueType::kWord) return value;
    return std::string(field.words[static_cast<size_t>(std::get<int64_t>(value))]);
  }

  const SearchedTable table_;
  const int first_parameter_;
  const std::string_view bounded_;
  ConditionSql sql_;
};

bool IsAbout(MeasurementFacet facet, const Condition& condition) {
  if (condition.form == ConditionForm::kCompare) {
    return MeasurementColumns()[condition.field].facet == facet;
  }
  return std::all_of(condition.parts.begin(), condition.parts.end(),
                     [&](const Condition& part) { return IsAbout(facet, part); });
}

bool Fixes(const Condition& condition, std::string_view column) {
  if (condition.form == ConditionForm::kCompare) {
    return condition.comparison == Comparison::kEqual &&
           MeasurementColumns()[condition.field].name == column;
  }
  return condition.form == ConditionForm::kAll &&
         std::any_of(condition.parts.begin(), condition.parts.end(),
                     [&](const Condition& part) { return Fixes(part, column); });
}

}  // namespace

void ConditionSql::BindTo(SqliteStatement& statement) const {
  for (const ConditionValue& value : values) {
    if (const auto* whole = std::get_if<int64_t>(&value)) {
      statement.Bind(*whole);
    } else if (const auto* real = std::get_if<double>(&value)) {
      statement.Bind(*real);
    } else {
      statement.Bind(std::string_view(std::get<std::string>(value)));
    }
  }
}

ConditionSql CompileCondition(const Condition& condition, SearchedTable table, int first_parameter,
                              std::string_view bounded) {
  Compiler compiler(table, first_parameter, bounded);
  compiler.Add(condition);
  return compiler.Take();
}

Condition PartAbout(MeasurementFacet facet, const Condition& condition) {
  if (IsAbout(facet, condition)) return condition;
  const bool is_any = condition.form == ConditionForm::kAny;
  if (!is_any && condition.form != ConditionForm::kAll) return Condition();
  Condition about{.form = condition.form};
  for (const Condition& part : condition.parts) {
    Condition decided = PartAbout(facet, part);
    if (!decided.holds_always()) {
      about.parts.push_back(std::move(decided));
    } else if (is_any) {
      return Condition();
    }
  }
  return about;
}

bool FixesModelClusterAndOutcome(const Condition& condition) {
  return Fixes(condition, "model") && Fixes(condition, "cluster") && Fixes(condition, "outcome");
}

}  // namespace meshwright::db
