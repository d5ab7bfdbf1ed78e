#include "tools/cli/common/server_flags.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/system/host_port.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "tools/cli/common/tls_files.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {

std::vector<CLI::Option*> ServerFlags::AddNamed(CLI::App& app, const std::string& server,
                                                const std::string& prefix, const std::string& whose,
                                                const std::string& description,
                                                const CommandContext& context) {
  context_ = &context;
  const auto add_file = [&](const char* name, std::string& file, std::string text) {
    if (!whose.empty()) text[0] = absl::ascii_tolower(static_cast<unsigned char>(text[0]));
    return app.add_option(absl::StrCat("--", prefix, name), file, absl::StrCat(whose, text))
        ->option_text("FILE");
  };
  std::vector<CLI::Option*> options = {
      app.add_option(server, address_, description)->option_text("HOST:PORT[,...]"),
      add_file("tls-ca", ca_file_,
               "Reach the server over TLS; CA certificates to check the server's against"),
      add_file("tls-cert", certificate_file_,
               "Own certificate, for a server that authenticates its callers"),
      add_file("tls-key", key_file_, "Its private key"),
      add_file(
          "token-file", token_file_,
          "File with a token, instead of a certificate; MESHWRIGHT_TOKEN may hold the token too")};
  token_option_ = options.back();
  return options;
}

void ServerFlags::Add(CLI::App& app, const std::string& description, const CommandContext& context,
                      const std::string& default_address) {
  address_ = default_address;
  const std::vector<CLI::Option*> options = AddNamed(app, "--server", "", "", description, context);
  if (!default_address.empty()) options.front()->capture_default_str();
  for (CLI::Option* option : options) option->group(command_line::kCommonFlags);
}

std::vector<CLI::Option*> ServerFlags::AddForAgents(CLI::App& app, const std::string& description,
                                                    const CommandContext& context) {
  return AddNamed(app, "--agent-server", "agent-", "Agents: ", description, context);
}

std::vector<CLI::Option*> ServerFlags::AddForStandby(CLI::App& app, const CommandContext& context) {
  return AddNamed(app, "--standby-of", "standby-", "Standby: ",
                  "Follow this server as its standby, until `meshwright standby take-over`; "
                  "--db is the copy",
                  context);
}

std::vector<std::string> ServerFlags::addresses() const { return absl::StrSplit(address_, ','); }

absl::Status ServerFlags::CheckAddresses() const {
  for (const std::string& address : addresses()) {
    if (const absl::Status status = ParseHostPort(address).status(); !status.ok()) {
      return FieldError("server", address, std::string(status.message()));
    }
  }
  return absl::OkStatus();
}

ServerFlags ServerFlags::At(std::string address) const {
  ServerFlags flags = *this;
  flags.address_ = std::move(address);
  return flags;
}

ServerFlags ServerFlags::OrDefault() const {
  ServerFlags flags = *this;
  if (flags.address_.empty()) flags.address_ = kDefaultServer;
  return flags;
}

ServerFlags ServerFlags::For(std::string_view agent) const {
  ServerFlags flags = *this;
  const absl::string_view name = AbslView(agent);
  for (std::string* file :
       {&flags.ca_file_, &flags.certificate_file_, &flags.key_file_, &flags.token_file_}) {
    absl::StrReplaceAll({{kAgentInPath, name}}, file);
  }
  return flags;
}

std::vector<std::string> ServerFlags::ToWords() const {
  std::vector<std::string> words = {"--server", address_};
  for (const auto& [name, file] :
       {std::pair("--tls-ca", &ca_file_), std::pair("--tls-cert", &certificate_file_),
        std::pair("--tls-key", &key_file_), std::pair("--token-file", &token_file_)}) {
    if (!file->empty()) words.insert(words.end(), {name, *file});
  }
  return words;
}

std::string ServerFlags::ToText() const { return absl::StrJoin(ToWords(), " "); }

absl::StatusOr<std::string> ServerFlags::Token() const {
  const bool typed = token_option_ != nullptr && token_option_->count() > 0;
  if (!typed && context_ != nullptr && context_->environment) {
    const std::string token = context_->environment(kTokenVariable).value_or("");
    if (!token.empty()) return CheckToken(kTokenVariable, token);
  }
  if (token_file_.empty()) return std::string();
  return ReadTokenFile("token_file", token_file_);
}

absl::StatusOr<std::vector<ServerAccess>> ServerFlags::ReadAll() const {
  ASSIGN_OR_RETURN(const ServerAccess first, Read());
  std::vector<ServerAccess> servers;
  for (const std::string& address : addresses()) {
    servers.push_back(first);
    servers.back().address = address;
  }
  return servers;
}

absl::StatusOr<ServerAccess> ServerFlags::Read() const {
  RETURN_IF_ERROR(CheckAddresses());
  ServerAccess access{
      .address = addresses().front(), .ca = {}, .certificate = {}, .key = {}, .token = {}};
  ASSIGN_OR_RETURN(access.token, Token());
  if (ca_file_.empty()) {
    constexpr absl::string_view kNeedsTls =
        "goes over TLS only: name the CA of the server's certificate with --tls-ca";
    if (!access.token.empty()) {
      return FieldError("token_file", "a token", std::string(kNeedsTls));
    }
    if (!certificate_file_.empty()) {
      return FieldError("tls_cert", certificate_file_, std::string(kNeedsTls));
    }
    if (!key_file_.empty()) return FieldError("tls_key", key_file_, std::string(kNeedsTls));
    return access;
  }
  ASSIGN_OR_RETURN(access.ca, ReadCertificates("tls_ca", ca_file_));
  if (certificate_file_.empty() && key_file_.empty()) return access;
  ASSIGN_OR_RETURN(TlsIdentity identity, ReadIdentity(certificate_file_, key_file_));
  access.certificate = std::move(identity.certificate);
  access.key = std::move(identity.key);
  return access;
}

}  // namespace meshwright::cli
