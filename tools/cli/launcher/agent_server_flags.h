// How agents that a command brings up reach their server: --agent-server, --agent-tls-ca and so on,
// beside the command's own flags of such names.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"
#include "tools/cli/common/server_flags.h"

namespace meshwright::cli {

class AgentServerFlags {
 public:
  // `description` is that of --agent-server. Returns the options. The context and this outlive what
  // is read by them.
  std::vector<CLI::Option*> Add(CLI::App& app, const std::string& description,
                                const CommandContext& context);

  // HOST:PORT; empty where none is named.
  const std::string& address() const { return address_; }
  // What an agent makes of the flags, with this address.
  ServerFlags At(const std::string& address) const;

 private:
  std::string address_;
  std::array<std::string, 4> files_;
  // Takes them as the agent's own command line does.
  std::unique_ptr<CLI::App> agent_;
  std::unique_ptr<ServerFlags> read_;
};

}  // namespace meshwright::cli
