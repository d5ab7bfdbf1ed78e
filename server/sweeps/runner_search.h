// FindOffer() finds the runner that a sweep's request names among those of the connected agents.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/wire/runner_offer.h"
#include "server/sweeps/sweep_engine.h"

namespace meshwright::server {

// Returns the offer that the agents have under this name. Returns NotFound if no agent has it, with
// the names that there are, and FailedPrecondition if two agents have different files under this
// name: their trials would not compare.
absl::StatusOr<wire::RunnerOffer> FindOffer(const std::vector<AgentStatus>& agents,
                                            const std::string& name);

}  // namespace meshwright::server
