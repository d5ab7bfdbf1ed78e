#include "tools/cli/launcher/kubernetes_access.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/system/host_port.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"

namespace meshwright::cli {
namespace {

absl::StatusOr<std::string> ReadToken(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  std::string token(absl::StripAsciiWhitespace(text.str()));
  if (file && !token.empty() && token.find_first_of("\r\n") == std::string::npos) return token;
  return FieldError("kube_token_file", path, "must be a readable file that holds a token");
}

// Checks http(s)://HOST[:PORT] and returns the URL without slashes at its end.
absl::StatusOr<std::string> CheckUrl(std::string_view text, bool has_token) {
  absl::string_view url = AbslView(text);
  while (absl::ConsumeSuffix(&url, "/")) {
  }
  absl::string_view address = url;
  const bool is_plain = absl::ConsumePrefix(&address, "http://");
  const bool is_tls = !is_plain && absl::ConsumePrefix(&address, "https://");
  if ((!is_plain && !is_tls) || address.empty() ||
      address.find_first_of("/?#@ ") != absl::string_view::npos) {
    return FieldError("kube_api", text, "must be https://HOST:PORT, or http:// for a proxy here");
  }
  if (!is_plain) return std::string(url);
  const absl::StatusOr<HostPort> host =
      ParseHostPort(std::string_view(address.data(), address.size()));
  if (!host.ok() || !IsLoopback(*host)) {
    return FieldError("kube_api", text,
                      "must begin with https://: plain HTTP is for 127.0.0.1 alone, as for "
                      "\"kubectl proxy\"");
  }
  if (has_token) {
    return FieldError("kube_token_file", "a file", "goes with https:// only");
  }
  return std::string(url);
}

}  // namespace

KubernetesSurroundings ThisPod() {
  return {.variable = [](const char* name) -> std::optional<std::string> {
    const char* const value = std::getenv(name);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
  }};
}

absl::StatusOr<std::string> KubernetesAccess::Token() const {
  if (token_file.empty()) return std::string();
  return ReadToken(token_file);
}

absl::StatusOr<KubernetesAccess> FindKubernetes(const KubernetesAccessFlags& flags,
                                                const KubernetesSurroundings& around) {
  KubernetesAccess access = {
      .url = flags.url, .ca_file = flags.ca_file, .token_file = flags.token_file};
  const std::string own_namespace = absl::StrCat(around.account_folder, "/namespace");
  if (std::ifstream file(own_namespace); file) std::getline(file, access.name_space);
  if (access.url.empty()) {
    const auto host = around.variable("KUBERNETES_SERVICE_HOST");
    const auto port = around.variable("KUBERNETES_SERVICE_PORT");
    if (!host || !port) {
      return FieldError("kube_api", "",
                        "must be the URL of the API server, since this is no pod: for instance "
                        "http://127.0.0.1:8001 while \"kubectl proxy\" runs");
    }
    const bool is_ipv6 = host->find(':') != std::string::npos;
    access.url = absl::StrCat("https://", is_ipv6 ? "[" : "", *host, is_ipv6 ? "]:" : ":", *port);
    if (access.ca_file.empty()) access.ca_file = absl::StrCat(around.account_folder, "/ca.crt");
    if (access.token_file.empty())
      access.token_file = absl::StrCat(around.account_folder, "/token");
  }
  ASSIGN_OR_RETURN(access.url, CheckUrl(access.url, !access.token_file.empty()));
  if (!access.ca_file.empty() && !std::ifstream(access.ca_file)) {
    return FieldError("kube_ca", access.ca_file, "must be a readable file of certificates");
  }
  RETURN_IF_ERROR(access.Token().status());
  return access;
}

}  // namespace meshwright::cli
