// HOST:PORT, as servers listen on it and clients dial it.
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

// InvalidArgument says what an address looks like.
absl::StatusOr<HostPort> ParseHostPort(std::string_view text);

// Of a name or a numeric address, which gets brackets where it is an IPv6 one.
HostPort WithPort(const std::string& host, int32_t port);

std::string ToText(const HostPort& address);

// Whether only this machine reaches it, as far as the host itself says: localhost, [::1], or an
// IPv4 address of 127.0.0.0/8.
bool IsLoopback(const HostPort& address);

}  // namespace meshwright
