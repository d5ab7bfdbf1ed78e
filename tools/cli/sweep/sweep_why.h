// Explains why a layout of a sweep ran, or did not: `meshwright sweep show NAME --why NUMBER`.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "tools/cli/common/context.h"
#include "tools/cli/common/flags.h"
#include "tools/cli/sweep/sweep_calls.h"

namespace meshwright::cli {

// `number`: of a trial or of a candidate that has not begun. InvalidArgument where the sweep has
// none of that number.
//
// JSON keys: number, layout, state (null where it has not begun), reason (null likewise),
// reused_from (the trial whose result it has; null for none), decisions (of each attempt: attempt,
// agent, members (agent, host, first_rank, ranks, failed), decision, policy_version, outcome,
// end_reason), belief (an entry of `sweep plan`'s candidates; null where too little is known),
// stop_reason (why the sweep would not run it; null where it may).
absl::Status ExplainTrial(v1::Sweeps::Stub& stub, const std::string& sweep, int32_t number,
                          OutputFormat format, CommandContext& context);

}  // namespace meshwright::cli
