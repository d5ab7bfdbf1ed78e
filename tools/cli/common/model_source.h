// ReadModelSource() reads the model that --model names, in any accepted form.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "planner/catalog/plan_query.h"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

// Returns the model that `value` names. In order of precedence, `value` is (1) a preset in upper or
// lower case, (2) "-" for standard input, (3) a place that FindModelPlace() finds
// (tools/cli/common/model_place.h), or (4) a preset in any spelling
// (planner/catalog/model_names.h). Any other text is returned as a name; resolving the name fails
// later. A params.json is returned as the equivalent config.json. An adapter is returned as the
// model that it adapts, with a note and, if the planner supports it, with the weights that it
// trains.
//
// Returns InvalidArgument, which names `model` and the path, if the file can't be read or does not
// describe a model. `seq_len` is passed to ResolveModel().
absl::StatusOr<planner::SpecSource> ReadModelSource(CommandContext& context,
                                                    const std::string& value, int64_t seq_len);

}  // namespace meshwright::cli
