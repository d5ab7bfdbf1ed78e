// ScalingFlags holds the flags of `serve --launcher`: the launcher, the limits on nodes, and the
// agents that it starts.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "tools/cli/common/context.h"
#include "tools/cli/launcher/fleet_flags.h"
#include "tools/cli/serve/fleet_scaler.h"

namespace meshwright::cli {

// The server's address and the security of its connections. The flags of its agents have to match.
struct ServerEnd {
  std::string listen;
  bool has_tls = false;
  bool takes_certificates = false;
};

class ScalingFlags {
 public:
  void Add(CLI::App& command, const CommandContext& context);

  // Returns the scaling that the flags describe; nullopt if no launcher is named. Returns
  // InvalidArgument, which names the flag, if the value of a flag is invalid or if two flags
  // conflict.
  absl::StatusOr<std::optional<FleetScaling>> Read(const ServerEnd& server,
                                                   const CommandContext& context) const;

  // Returns the flags with which agents reach a server that listens at `address`, HOST:PORT.
  ServerFlags ServerAt(const std::string& address) const;

 private:
  absl::Status CheckNone() const;
  absl::Status CheckNumbers() const;
  absl::Status CheckReached(const std::string& listen) const;
  absl::StatusOr<QueueOfFleet> QueueFor(const AgentFleet& fleet) const;

  std::string launcher_;
  ScalingLimits limits_;
  double idle_s_ = absl::ToDoubleSeconds(ScalingLimits().idle);
  AgentFleet fleet_;  // without the server
  ServerFlags server_;
  SlurmJobFlags job_;
  QueueCommands commands_;
  KubernetesLaunch kubernetes_;
  double poll_s_ = 10.0;
  const CLI::Option* most_ = nullptr;
  std::vector<CLI::Option*> options_;  // all but --launcher
};

}  // namespace meshwright::cli
