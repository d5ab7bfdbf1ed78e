// FindOffer() finds the runner that a sweep's request names among those of the connected agents.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/wire/runner_offer.h"
#include "server/sweeps/sweep_engine.h"

namespace meshwright::server {

// Returns the offer that the agents have under this name. Returns NotFound if no agent has it, with
// the names of the runners that they have, and FailedPrecondition if two agents have different
// files under this name, since their trials would not be comparable.
absl::StatusOr<wire::RunnerOffer> FindOffer(const std::vector<AgentStatus>& agents,
                                            const std::string& name);

}  // namespace meshwright::server
