#include "tools/cli/plan/where_flags.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/status_macros.h"
#include "planner/layout/keys.h"
#include "planner/layout/layout_condition.h"

namespace meshwright::cli {
namespace {

// "tp, cp, ...".
std::string KeyNames() {
  return absl::StrJoin(
      planner::kLayoutKeys, ", ",
      [](std::string* names, const planner::LayoutKey& key) { names->append(key.name); });
}

}  // namespace

void WhereFlags::Add(CLI::App& app) {
  app.add_option(
         "--where", where,
         absl::StrCat("Search only layouts that meet this condition, such as 'tp <= 8 and sched in "
                      "(1f1b, interleaved)' or 'stages = none'; about ",
                      KeyNames()))
      ->option_text("CONDITION");
  app.add_option("--fix", fix, "Search only layouts with these values, such as tp=8,pp=4")
      ->option_text("VALUES");
}

absl::StatusOr<std::string> WhereFlags::ToWhere() const {
  ASSIGN_OR_RETURN(const planner::Condition fixed, planner::ParseFixed("fix", fix));
  if (fixed.holds_always()) return where;
  ASSIGN_OR_RETURN(planner::Condition condition, planner::ParseLayoutCondition("where", where));
  if (condition.holds_always()) return planner::FormatLayoutCondition(fixed);
  return planner::FormatLayoutCondition({.parts = {std::move(condition), fixed}});
}

}  // namespace meshwright::cli
