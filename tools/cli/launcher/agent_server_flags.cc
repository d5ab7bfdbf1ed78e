#include "tools/cli/launcher/agent_server_flags.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace meshwright::cli {
namespace {

struct FileFlag {
  const char* name;
  const char* description;
};

constexpr std::array<FileFlag, 4> kFiles = {
    {{"tls-ca", "Agents: reach the server over TLS; certificates that vouch for its own"},
     {"tls-cert", "Agents: own certificate, for a server that asks who calls"},
     {"tls-key", "Agents: its private key"},
     {"token-file",
      "Agents: file of a token, in place of a certificate, or MESHWRIGHT_TOKEN is the token"}}};

}  // namespace

std::vector<CLI::Option*> AgentServerFlags::Add(CLI::App& app, const std::string& description,
                                                const CommandContext& context) {
  agent_ = std::make_unique<CLI::App>();
  read_ = std::make_unique<ServerFlags>();
  read_->Add(*agent_, "", context);
  std::vector<CLI::Option*> options = {
      app.add_option("--agent-server", address_, description)->option_text("HOST:PORT")};
  for (size_t i = 0; i < kFiles.size(); ++i) {
    options.push_back(
        app.add_option(absl::StrCat("--agent-", kFiles[i].name), files_[i], kFiles[i].description)
            ->option_text("FILE"));
  }
  return options;
}

ServerFlags AgentServerFlags::At(const std::string& address) const {
  std::vector<std::string> words = {"--server", address};
  for (size_t i = 0; i < kFiles.size(); ++i) {
    if (files_[i].empty()) continue;
    words.insert(words.end(), {absl::StrCat("--", kFiles[i].name), files_[i]});
  }
  // CLI11 takes the last word first.
  std::reverse(words.begin(), words.end());
  agent_->parse(words);
  return *read_;
}

}  // namespace meshwright::cli
