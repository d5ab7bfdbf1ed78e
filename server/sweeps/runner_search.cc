#include "server/sweeps/runner_search.h"

#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace meshwright::server {

absl::StatusOr<wire::RunnerOffer> FindOffer(const std::vector<AgentStatus>& agents,
                                            const std::string& name) {
  const wire::RunnerOffer* found = nullptr;
  std::string found_at;
  std::set<std::string> others;
  for (const AgentStatus& agent : agents) {
    if (agent.lost) continue;
    for (const wire::RunnerOffer& offer : agent.info.runners) {
      if (offer.name != name) {
        others.insert(offer.name);
        continue;
      }
      if (found != nullptr && *found != offer) {
        return absl::FailedPreconditionError(absl::StrCat(
            "the agents ", found_at, " and ", agent.info.name,
            " have different files for the runner ", name, ", so their trials can't be compared"));
      }
      found = &offer;
      found_at = agent.info.name;
    }
  }
  if (found != nullptr) return *found;
  return absl::NotFoundError(absl::StrCat(
      "no connected agent has the runner ", name,
      others.empty() ? "; agent --runner NAME=FILE gives an agent one"
                     : absl::StrCat("; the agents have ", absl::StrJoin(others, ", "))));
}

}  // namespace meshwright::server
