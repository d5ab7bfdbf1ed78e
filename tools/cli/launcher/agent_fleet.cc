#include "tools/cli/launcher/agent_fleet.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/system/host_port.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "proto/meshwright/v1/resource_names.h"
#include "proto/server_access.h"

namespace meshwright::cli {
namespace {

constexpr int32_t kMostGpus = 1024;

std::string AgentName(const AgentFleet& fleet, int32_t number) {
  return absl::StrCat(fleet.name, "-", number);
}

absl::Status CheckMore(const std::vector<std::string>& more) {
  for (const std::string& word : more) {
    for (const std::string_view own : {"--server", "--devices", "--name"}) {
      if (word == own || word.starts_with(std::string(own) + "=")) {
        return FieldError("agent_flags", word, "is set for each agent; give it before \"--\"");
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Check(const AgentFleet& fleet) {
  RETURN_IF_ERROR(CheckRange("nodes", fleet.nodes, 1, kMostNodes));
  RETURN_IF_ERROR(
      CheckRange("nodes_per_job", fleet.nodes_per_job, 1, std::min(fleet.nodes, kMostNodesPerJob)));
  if (fleet.nodes % fleet.nodes_per_job != 0) {
    return FieldError("nodes", fleet.nodes,
                      absl::StrCat("must be a multiple of --nodes-per-job, ", fleet.nodes_per_job));
  }
  RETURN_IF_ERROR(WithField(CheckAgentName(AgentName(fleet, fleet.nodes)), "job_name"));
  RETURN_IF_ERROR(fleet.server.CheckAddresses());
  RETURN_IF_ERROR(CheckRange("gpus_per_node", fleet.gpus_per_node, 0, kMostGpus));
  if (fleet.gpus_per_node > 0 && fleet.devices.kind != planner::DeviceKind::kCuda) {
    return FieldError("gpus_per_node", fleet.gpus_per_node, "goes with --devices cuda only");
  }
  return CheckMore(fleet.more);
}

absl::Status CheckAccess(const AgentFleet& fleet) {
  for (const std::string& name : AgentNames(fleet)) {
    ASSIGN_OR_RETURN(const ServerAccess access, fleet.server.For(name).Read());
    const bool identified = !access.token.empty() || !access.certificate.empty();
    const std::vector<std::string> first = fleet.server.For(AgentName(fleet, 1)).ToWords();
    if (identified && fleet.nodes > 1 && fleet.server.For(AgentName(fleet, 2)).ToWords() == first) {
      return FieldError(
          access.token.empty() ? "tls_cert" : "token_file", "one for all agents",
          absl::StrCat("must differ between agents, since it admits only one: write ", kAgentInPath,
                       " for the agent's name in the path, as in \"tls/{name}.pem\""));
    }
  }
  return absl::OkStatus();
}

std::vector<std::string> AgentNames(const AgentFleet& fleet) {
  std::vector<std::string> names;
  for (int32_t number = 1; number <= fleet.nodes; ++number)
    names.push_back(AgentName(fleet, number));
  return names;
}

std::vector<std::string> JobNames(const AgentFleet& fleet) {
  std::vector<std::string> names;
  for (int32_t first = 1; first <= fleet.nodes; first += fleet.nodes_per_job) {
    names.push_back(AgentName(fleet, first));
  }
  return names;
}

std::vector<std::string> AgentsOfJob(const AgentFleet& fleet, std::string_view job) {
  std::vector<std::string> agents = AgentNames(fleet);
  const auto first = std::find(agents.begin(), agents.end(), job);
  return {first, first + fleet.nodes_per_job};
}

std::vector<std::string> AgentWords(const AgentFleet& fleet, std::string_view name) {
  std::vector<std::string> words = {"agent"};
  const std::vector<std::string> access = fleet.server.For(name).ToWords();
  words.insert(words.end(), access.begin(), access.end());
  words.insert(words.end(), {"--devices", fleet.devices_text, "--name", std::string(name)});
  words.insert(words.end(), fleet.more.begin(), fleet.more.end());
  return words;
}

}  // namespace meshwright::cli
