// ReadMine() reads the layout that --mine names: a layout's text, or a file of the framework that
// runs it. FillFromMine() takes from such a file the settings that no flag gives.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "planner/catalog/plan_query.h"
#include "tools/cli/common/context.h"
#include "tools/cli/common/flags.h"

namespace meshwright::cli {

// Returns whether `mine` is the path of a file, not a layout's text.
bool IsMineFile(const std::string& mine);

// Takes the model, the sequence length, the batch and the number of devices from the file `mine` if
// no flag gives them, and prints which of them it took. Does nothing if `mine` names no file.
// Returns InvalidArgument if the model or the sequence length is then still missing.
absl::Status FillFromMine(CommandContext& context, const std::string& mine, QueryFlags& flags);

// Returns the layout's text with its options, in the form of PlanQuery::mine. If `mine` is not the
// path of a file, returns it unchanged. A file is read as a file of the framework that its content
// shows, or else of the query's framework. If the file does not give the number of devices, the
// query's number is used.
//
// Prints a warning about entries of the file that change memory or time and are not used. Also
// warns if the file's model, batch, sequence length, number of devices or number format differs
// from the query's, which is used instead. Returns InvalidArgument, which names `mine`, if the file
// gives no layout.
absl::StatusOr<std::string> ReadMine(CommandContext& context, const std::string& mine,
                                     const planner::PlanQuery& query);

}  // namespace meshwright::cli
