// HostPort is HOST:PORT, as servers listen on it and clients dial it.
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

// Parses an address. InvalidArgument says what an address looks like.
absl::StatusOr<HostPort> ParseHostPort(std::string_view text);

// Returns the address of a host name or a numeric address, which gets brackets where it is IPv6.
HostPort WithPort(const std::string& host, int32_t port);

std::string ToText(const HostPort& address);

// Returns whether only this machine can reach it, judged by the host text alone: localhost, [::1],
// or an IPv4 address of 127.0.0.0/8.
bool IsLoopback(const HostPort& address);

}  // namespace meshwright
