// meshwright sweep plan: shows what a sweep would run next and why, without running it.
#pragma once

#include <cstdint>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "meshwright/v1/sweeps.pb.h"
#include "tools/cli/common/context.h"
#include "tools/cli/sweep/sweep_calls.h"

namespace meshwright::cli {

// Returns what the sweep of this name would assign to this many idle agents.
absl::StatusOr<v1::SweepPlan> ReadPlan(v1::Sweeps::Stub& stub, const std::string& id,
                                       int32_t trials);

// Returns whose results correct the estimates. Requires that some do.
std::string CorrectedBy(const v1::SweepPlan& plan);

void AddSweepPlanCommand(CLI::App& group, CommandContext& context);

}  // namespace meshwright::cli
