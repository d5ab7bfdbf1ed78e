// HostPort is an address HOST:PORT that servers listen on and clients connect to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace meshwright {

struct HostPort {
  std::string host;  // a name, an IPv4 address, or an IPv6 address in brackets
  int port = 0;      // 0 to 65535

  friend bool operator==(const HostPort&, const HostPort&) = default;
};

// Parses an address. Returns InvalidArgument, with the form of an address, for any other text.
absl::StatusOr<HostPort> ParseHostPort(std::string_view text);

// Returns the address of `host`, a name or a numeric address, with brackets around an IPv6 address.
HostPort WithPort(const std::string& host, int32_t port);

std::string ToText(const HostPort& address);

// Returns the host as the system resolves it: an IPv6 address without its brackets.
std::string ResolvableHost(const HostPort& address);

// Returns whether only this machine can reach the address. The text of the host alone decides:
// localhost, [::1], or an IPv4 address of 127.0.0.0/8.
bool IsLoopback(const HostPort& address);

}  // namespace meshwright
