#include "base/system/host_port.h"

#include <arpa/inet.h>

#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/text/string_view.h"

namespace meshwright {

absl::StatusOr<HostPort> ParseHostPort(std::string_view text) {
  const absl::Status malformed =
      absl::InvalidArgumentError("must be HOST:PORT with a port from 0 to 65535");
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return malformed;
  HostPort address{std::string(text.substr(0, colon)), 0};
  const bool bracketed = address.host.front() == '[' && address.host.back() == ']';
  if (!bracketed && address.host.find_first_of(":[] ") != std::string::npos) return malformed;
  const std::string_view port = text.substr(colon + 1);
  if (!absl::SimpleAtoi(AbslView(port), &address.port) || address.port < 0 ||
      address.port > 65535) {
    return malformed;
  }
  return address;
}

HostPort WithPort(const std::string& host, int32_t port) {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return {is_ipv6 ? absl::StrCat("[", host, "]") : host, port};
}

std::string ToText(const HostPort& address) {
  return absl::StrCat(address.host, ":", address.port);
}

std::string ResolvableHost(const HostPort& address) {
  const bool has_brackets = address.host.front() == '[';
  return has_brackets ? address.host.substr(1, address.host.size() - 2) : address.host;
}

bool IsLoopback(const HostPort& address) {
  if (address.host == "localhost" || address.host == "[::1]") return true;
  // A name may begin with "127." and resolve to any address.
  in_addr ipv4 = {};
  if (inet_pton(AF_INET, address.host.c_str(), &ipv4) != 1) return false;
  constexpr uint32_t kLoopbackNet = 127;
  return ntohl(ipv4.s_addr) >> 24 == kLoopbackNet;
}

}  // namespace meshwright
