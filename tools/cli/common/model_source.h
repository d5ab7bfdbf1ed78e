// Reads the model that --model names, in any form that people hand in.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "planner/catalog/plan_query.h"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

// Returns the model that `value` names: a preset in upper or lower case, - for standard input, a
// place where FindModelPlace() finds it (tools/cli/common/model_place.h), or a preset in any
// spelling (planner/catalog/model_names.h), in this order. Any other text is returned as a name;
// resolving the name fails later. A params.json is returned as the config.json that says the same,
// and an adapter as the model that it adapts, with a note and, if it is planned, with what it
// trains.
//
// Returns InvalidArgument about `model`, with the path, if the file can't be read or does not
// describe a model. `seq_len` is passed to ResolveModel().
absl::StatusOr<planner::SpecSource> ReadModelSource(CommandContext& context,
                                                    const std::string& value, int64_t seq_len);

}  // namespace meshwright::cli
