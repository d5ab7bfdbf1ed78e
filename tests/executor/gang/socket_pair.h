// Connections without encryption between two ends that a test has, on non-blocking sockets.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "base/system/unique_fd.h"
#include "executor/gang/socket_address.h"

namespace meshwright::gang {

struct SocketPair {
  UniqueFd a;
  UniqueFd b;
};

inline SocketPair MakeSocketPair() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
  return {.a = UniqueFd(ends[0]), .b = UniqueFd(ends[1])};
}

// Returns a connection to `address`, once it is connected.
inline UniqueFd DialPlain(const SocketAddress& address) {
  UniqueFd socket = Dial(address).value();
  pollfd connected = {.fd = socket.get(), .events = POLLOUT, .revents = 0};
  EXPECT_EQ(::poll(&connected, 1, /*timeout=*/5000), 1);
  return socket;
}

// Returns the bytes that are available. Sets `ended` to whether the stream is over.
inline std::string ReadAll(const UniqueFd& socket, bool* ended = nullptr) {
  std::string text;
  char buffer[65536];
  while (true) {
    const ssize_t n = ::recv(socket.get(), buffer, sizeof(buffer), 0);
    if (ended != nullptr) *ended = n == 0 || (n < 0 && errno != EAGAIN);
    if (n <= 0) return text;
    text.append(buffer, static_cast<size_t>(n));
  }
}

inline void Write(const UniqueFd& socket, const std::string& text) {
  EXPECT_EQ(::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(text.size()));
}

// Returns whether `is_so` returns true within 30 s.
inline bool Eventually(const std::function<bool()>& is_so) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace meshwright::gang
