// ExplainTrial() explains why a layout of a sweep ran or did not run, for `meshwright sweep show
// NAME --why NUMBER`.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "tools/cli/common/context.h"
#include "tools/cli/common/flags.h"
#include "tools/cli/sweep/sweep_calls.h"

namespace meshwright::cli {

// Explains the trial with this number or, if there is none, the candidate of this number, which has
// not run. Returns InvalidArgument if the sweep has neither. As JSON, prints the fields of WhyText
// (tools/cli/sweep/plan_fields.h).
absl::Status ExplainTrial(v1::Sweeps::Stub& stub, const std::string& sweep, int32_t number,
                          OutputFormat format, CommandContext& context);

}  // namespace meshwright::cli
