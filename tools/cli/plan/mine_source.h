// ReadMine() reads the layout that --mine names: a layout's text, or a file of the framework that
// runs it.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "planner/catalog/plan_query.h"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

// Returns the layout's text with its options, as PlanQuery::mine has it. `mine` is returned as it
// is unless it is the path of a file. A file is read as its framework's: the one that its content
// shows, otherwise the query's. The devices that the file does not say are the query's.
//
// Prints a warning about entries that change memory or time and are left aside, and about a batch,
// a sequence or a format other than the query's. Returns InvalidArgument about `mine` if the file
// says no layout.
absl::StatusOr<std::string> ReadMine(CommandContext& context, const std::string& mine,
                                     const planner::PlanQuery& query);

}  // namespace meshwright::cli
