// ServerFlags holds --server and its connection flags: --tls-ca, --tls-cert, --tls-key,
// --token-file.
//
// --server may list several addresses, separated by commas: those of a server and of its standbys.
// They are tried in turn, with the same files.
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
// The environment variable that may hold a token.
inline constexpr char kTokenVariable[] = "MESHWRIGHT_TOKEN";
// Stands for an agent's name in the paths of files (ServerFlags::For()).
inline constexpr char kAgentInPath[] = "{name}";

class ServerFlags {
 public:
  ServerFlags() = default;
  // Names a server that is reached in plain text and without a token, even if the environment has
  // one.
  // NOLINTNEXTLINE(google-explicit-constructor): an address alone is a server too
  ServerFlags(std::string address) : address_(std::move(address)) {}

  // Adds the flags. `description` is the description of --server. The default of --server is
  // `default_address`, which may be empty. REQUIRES: the context outlives every Read().
  void Add(CLI::App& app, const std::string& description, const CommandContext& context,
           const std::string& default_address = "");
  // Adds and returns --agent-server, --agent-tls-ca and so on, for a command that starts agents.
  // These flags say how the agents reach their server. The command itself may also have flags such
  // as --tls-ca for its own connection.
  std::vector<CLI::Option*> AddForAgents(CLI::App& app, const std::string& description,
                                         const CommandContext& context);

  // Adds and returns --standby-of, --standby-tls-ca and so on, for a standby that follows a server.
  std::vector<CLI::Option*> AddForStandby(CLI::App& app, const CommandContext& context);

  // Returns the text of --server: HOST:PORT or a list; empty if no server is named.
  const std::string& address() const { return address_; }
  // Returns each HOST:PORT of the list.
  std::vector<std::string> addresses() const;
  bool empty() const { return address_.empty(); }
  // Returns these flags, with the address kDefaultServer if no server is named.
  ServerFlags OrDefault() const;
  // Returns these flags with another address.
  ServerFlags At(std::string address) const;

  // Returns the flags with which the named agent reaches this server: every kAgentInPath in a path
  // is replaced by the name, so that each agent may have its own certificate or token.
  ServerFlags For(std::string_view agent) const;

  // Return the flags as one would type them: "--server 10.0.0.1:7077 --tls-ca ca.pem".
  std::vector<std::string> ToWords() const;
  std::string ToText() const;

  // Returns InvalidArgument unless --server is a list of HOST:PORT.
  absl::Status CheckAddresses() const;

  // Reads the files and returns how to reach the servers, in the order of the list. Returns
  // InvalidArgument, which names the flag, if the value of a flag is wrong.
  absl::StatusOr<std::vector<ServerAccess>> ReadAll() const;
  // Returns how to reach the first server of the list.
  absl::StatusOr<ServerAccess> Read() const;

 private:
  // Adds the flag `server` for the address, --PREFIXtls-ca and so on; `whose` precedes the
  // descriptions of the files.
  std::vector<CLI::Option*> AddNamed(CLI::App& app, const std::string& server,
                                     const std::string& prefix, const std::string& whose,
                                     const std::string& description, const CommandContext& context);
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
