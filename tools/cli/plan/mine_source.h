// ReadMine() reads the layout that --mine names: a layout's text, or a file of the framework that
// runs it. FillFromMine() takes from such a file what the question leaves open.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "planner/catalog/plan_query.h"
#include "tools/cli/common/context.h"
#include "tools/cli/common/flags.h"

namespace meshwright::cli {

// Returns whether `mine` is the path of a file, not a layout's text.
bool IsMineFile(const std::string& mine);

// Sets the model, the sequence length, the batch and the devices that no flag gives to those of the
// file `mine`, and says so. Does nothing if `mine` names no file. Returns InvalidArgument about the
// flag of a model or a sequence length that the file does not say either.
absl::Status FillFromMine(CommandContext& context, const std::string& mine, QueryFlags& flags);

// Returns the layout's text with its options, as PlanQuery::mine has it. `mine` is returned as it
// is unless it is the path of a file. A file is read as its framework's: the one that its content
// shows, otherwise the query's. The devices that the file does not say are the query's.
//
// Prints a warning about entries that change memory or time and are left aside, and about a model,
// a batch, a sequence, a number of devices or a format other than the query's, which counts.
// Returns InvalidArgument about `mine` if the file says no layout.
absl::StatusOr<std::string> ReadMine(CommandContext& context, const std::string& mine,
                                     const planner::PlanQuery& query);

}  // namespace meshwright::cli
