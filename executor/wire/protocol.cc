#include "executor/wire/protocol.h"

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"

namespace meshwright::wire {

absl::Status CheckAgentProtocol(int32_t protocol, const std::string& version) {
  if (protocol == kAgentProtocol) return absl::OkStatus();
  const bool older = protocol < kAgentProtocol;
  return FieldError(
      "register.protocol", protocol,
      absl::StrCat("the agent", version.empty() ? "" : absl::StrCat(", version ", version, ","),
                   " is ", older ? "older" : "newer", " than the server, which speaks protocol ",
                   kAgentProtocol, ": start one of the server's version"));
}

absl::Status CheckServerProtocol(int32_t protocol, const std::string& address) {
  if (protocol == kAgentProtocol) return absl::OkStatus();
  const bool older = protocol < kAgentProtocol;
  return FieldError("registered.protocol", protocol,
                    absl::StrCat("the server at ", address, " is ", older ? "older" : "newer",
                                 " than this agent, which speaks protocol ", kAgentProtocol,
                                 ": start an agent of the server's version"));
}

}  // namespace meshwright::wire
