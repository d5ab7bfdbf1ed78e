// MakeTlsPair() makes the two ends of an encrypted connection over loopback.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "executor/gang/listener.h"
#include "executor/gang/socket_address.h"
#include "executor/gang/tls_socket.h"
#include "tests/executor/gang/memberships.h"
#include "tests/executor/gang/socket_pair.h"

namespace meshwright::gang {

// Returns the end of a dialer that knows `secret`.
inline TlsSocket DialTls(const std::string& rendezvous, const std::string& secret,
                         Purpose purpose = Purpose::kLink) {
  return TlsSocket::Dial(ResolveHostPort(rendezvous).value(), secret, purpose,
                         MonotonicNow() + absl::Seconds(30))
      .value();
}

// Returns the next connection of `listener`, which knows `secret`.
inline TlsSocket AcceptTls(const Listener& listener, const std::string& secret) {
  UniqueFd accepted;
  EXPECT_TRUE(Eventually([&] { return (accepted = Accept(listener.socket())).is_open(); }));
  return TlsSocket::OfListener(std::move(accepted), secret, MonotonicNow() + absl::Seconds(30))
      .value();
}

// Proceeds with the handshake of `socket` until it is done or has failed, while another thread has
// the other end.
inline absl::Status Finish(TlsSocket& socket) {
  absl::Status status;
  EXPECT_TRUE(Eventually([&] {
    status = socket.ShakeHands(MonotonicNow());
    return socket.is_authenticated() || !status.ok();
  }));
  return status;
}

// Proceeds with the handshake of two ends that both know the secret.
inline void Meet(TlsSocket& dialer, TlsSocket& listener) {
  EXPECT_TRUE(Eventually([&] {
    EXPECT_EQ(dialer.ShakeHands(MonotonicNow()), absl::OkStatus());
    EXPECT_EQ(listener.ShakeHands(MonotonicNow()), absl::OkStatus());
    return dialer.is_authenticated() && listener.is_authenticated();
  }));
}

struct TlsPair {
  TlsSocket dialer;
  TlsSocket listener;
};

inline TlsPair MakeTlsPair() {
  const auto listener = Listener::Open("127.0.0.1").value();
  TlsSocket dialer = DialTls(listener->rendezvous(), kSecret);
  EXPECT_EQ(dialer.ShakeHands(MonotonicNow()), absl::OkStatus());
  TlsPair pair = {.dialer = std::move(dialer), .listener = AcceptTls(*listener, kSecret)};
  Meet(pair.dialer, pair.listener);
  return pair;
}

// Returns the bytes that are available. Sets `status` to why there will be no more, if so.
inline std::string ReadAll(TlsSocket& socket, absl::Status* status = nullptr) {
  std::string text;
  std::array<char, kMostRecordBytes> buffer;
  while (true) {
    const absl::StatusOr<size_t> n = socket.Receive(buffer);
    if (status != nullptr) *status = n.status();
    if (n.value_or(0) == 0) return text;
    text.append(buffer.data(), *n);
  }
}

inline void Write(TlsSocket& socket, const std::string& text) {
  EXPECT_EQ(socket.Send(text).value_or(0), text.size());
}

}  // namespace meshwright::gang
