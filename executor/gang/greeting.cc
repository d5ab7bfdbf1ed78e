#include "executor/gang/greeting.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/text/status_macros.h"

namespace meshwright::gang {
absl::StatusOr<Greeting> Greeting::OfListener(UniqueFd socket, const std::string& secret,
                                              MonotonicTime deadline) {
  ASSIGN_OR_RETURN(std::string nonce, NewNonce());
  return Greeting(std::move(socket), Handshake::OfListener(secret, std::move(nonce)), deadline);
}

absl::StatusOr<Greeting> Greeting::Begin(const SocketAddress& address, const std::string& secret,
                                         Purpose purpose, MonotonicTime deadline) {
  ASSIGN_OR_RETURN(std::string nonce, NewNonce());
  ASSIGN_OR_RETURN(UniqueFd socket, Dial(address));
  return Greeting(std::move(socket), Handshake::OfDialer(secret, purpose, std::move(nonce)),
                  deadline);
}

Greeting::Greeting(UniqueFd socket, Handshake handshake, MonotonicTime deadline)
    : socket_(std::move(socket)),
      handshake_(std::move(handshake)),
      deadline_(deadline),
      output_(handshake_.TakeOutput()) {}

pollfd Greeting::descriptor() const {
  // A socket becomes writable once it is connected.
  const auto events = static_cast<short>(output_.empty() ? POLLIN : POLLOUT);
  return {.fd = socket_.get(), .events = events, .revents = 0};
}

absl::Status Greeting::Step(MonotonicTime now) {
  bool moved = true;
  while (moved && !done()) {
    RETURN_IF_ERROR(SendOutput());
    if (!output_.empty() || handshake_.done()) break;
    ASSIGN_OR_RETURN(moved, ReadInput());
    output_ += handshake_.TakeOutput();
  }
  if (!done() && now > deadline_) {
    return absl::DeadlineExceededError("the other end does not answer");
  }
  return absl::OkStatus();
}

absl::Status Greeting::SendOutput() {
  while (!output_.empty()) {
    const ssize_t n = ::send(socket_.get(), output_.data(), output_.size(), MSG_NOSIGNAL);
    if (n < 0 && IsForLater(errno)) return absl::OkStatus();
    if (n < 0) return SocketError("send");
    output_.erase(0, static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> Greeting::ReadInput() {
  std::array<char, 128> buffer;
  const size_t most = std::min(buffer.size(), handshake_.wanted_bytes());
  const ssize_t n = ::recv(socket_.get(), buffer.data(), most, 0);
  if (n < 0 && IsForLater(errno)) return false;
  if (n < 0) return SocketError("receive");
  if (n == 0) return absl::UnavailableError("the other end closed the connection");
  RETURN_IF_ERROR(handshake_.TakeIn({buffer.data(), static_cast<size_t>(n)}));
  return true;
}

}  // namespace meshwright::gang
