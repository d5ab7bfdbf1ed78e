// --server and how it is reached: --tls-ca, --tls-cert, --tls-key, --token-file.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "proto/server_access.h"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

inline constexpr char kDefaultServer[] = "127.0.0.1:7077";
// The variable of the environment that may hold a token.
inline constexpr char kTokenVariable[] = "MESHWRIGHT_TOKEN";
inline constexpr char kAgentInPath[] = "{name}";

class ServerFlags {
 public:
  ServerFlags() = default;
  // In plain text and without a token, whatever the environment says.
  // NOLINTNEXTLINE(google-explicit-constructor): an address alone is a server too
  ServerFlags(std::string address) : address_(std::move(address)) {}

  // Adds the flags; `description` is that of --server, which is left empty unless it has a default.
  // The context outlives what they are read by.
  void Add(CLI::App& app, const std::string& description, const CommandContext& context,
           const std::string& default_address = "");
  // The flags with which agents that a command brings up reach their server, beside the command's
  // own of such names: --agent-server, --agent-tls-ca and so on. Returns them.
  std::vector<CLI::Option*> AddForAgents(CLI::App& app, const std::string& description,
                                         const CommandContext& context);

  // HOST:PORT; empty where none is named.
  const std::string& address() const { return address_; }
  bool empty() const { return address_.empty(); }
  // The same server, or the default one where none is named.
  ServerFlags OrDefault() const;
  // The same but for the address.
  ServerFlags At(std::string address) const;

  // The same server as the agent of a name reaches it, who has a certificate or a token of its own:
  // kAgentInPath in a path stands for the name.
  ServerFlags For(std::string_view agent) const;

  // The flags as one would type them again: "--server 10.0.0.1:7077 --tls-ca ca.pem".
  std::vector<std::string> ToWords() const;
  std::string ToText() const;

  // With the files read. InvalidArgument about the flag that is wrong.
  absl::StatusOr<ServerAccess> Read() const;

 private:
  // --PREFIXserver and so on; `whose` stands in front of what the files are for.
  std::vector<CLI::Option*> AddNamed(CLI::App& app, const std::string& prefix,
                                     const std::string& whose, const std::string& description,
                                     const CommandContext& context);
  absl::StatusOr<std::string> Token() const;

  std::string address_;
  std::string ca_file_;
  std::string certificate_file_;
  std::string key_file_;
  std::string token_file_;
  const CLI::Option* token_option_ = nullptr;
  const CommandContext* context_ = nullptr;
};

}  // namespace meshwright::cli
