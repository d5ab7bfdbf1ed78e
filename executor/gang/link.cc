#include "executor/gang/link.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "absl/time/time.h"
#include "executor/gang/socket_address.h"

namespace meshwright::gang {
namespace {

// Limit per call, so that the receiver's thread gets to its other work.
constexpr size_t kMostReceivedBytes = size_t{1} << 20;

void Poll(std::vector<pollfd>& descriptors, int timeout_ms) {
  ::poll(descriptors.data(), descriptors.size(), timeout_ms);
}

}  // namespace

Link::Link(UniqueFd socket, MonotonicClock clock)
    : socket_(std::move(socket)), clock_(std::move(clock)), heard_(clock_()) {}

void Link::Send(Frame frame) {
  if (!status_.ok() || !send_status_.ok()) return;
  unsent_ += EncodeFrame(std::move(frame));
  Flush();
}

std::vector<Frame> Link::Receive() {
  std::vector<Frame> frames;
  std::array<char, 65536> buffer;
  for (size_t received = 0; status_.ok() && received < kMostReceivedBytes;) {
    const ssize_t n = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (n < 0 && IsForLater(errno)) {
      if (!send_status_.ok()) Fail(send_status_);
      break;
    }
    if (n < 0) Fail(SocketError("the connection broke"));
    if (n == 0) Fail(absl::UnavailableError("the connection was closed"));
    if (n <= 0) break;
    heard_ = clock_();
    received += static_cast<size_t>(n);
    absl::StatusOr<std::vector<Frame>> come =
        reader_.TakeIn({buffer.data(), static_cast<size_t>(n)});
    if (!come.ok()) {
      Fail(come.status());
      break;
    }
    for (Frame& frame : *come) frames.push_back(std::move(frame));
  }
  Flush();
  return frames;
}

void Link::AddDescriptor(std::vector<pollfd>& descriptors) const {
  if (!status_.ok()) return;
  const auto events = static_cast<short>(POLLIN | (unsent_.empty() ? 0 : POLLOUT));
  descriptors.push_back({.fd = socket_.get(), .events = events, .revents = 0});
}

double Link::silence_s() const {
  return absl::ToDoubleSeconds(clock_().since_start - heard_.since_start);
}

void Link::Close(double limit_s) {
  const MonotonicTime until = clock_() + absl::Seconds(limit_s);
  bool told = false;
  while (status_.ok() && clock_() < until) {
    if (unsent_.empty() && !std::exchange(told, true)) ::shutdown(socket_.get(), SHUT_WR);
    std::vector<pollfd> descriptors;
    AddDescriptor(descriptors);
    Poll(descriptors, 50);
    Receive();
  }
  Fail(absl::UnavailableError("this end closed the connection"));
}

void Link::Flush() {
  while (status_.ok() && !unsent_.empty()) {
    const ssize_t n = ::send(socket_.get(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
    if (n < 0 && IsForLater(errno)) return;
    if (n < 0) {
      send_status_ = SocketError("the connection broke");
      unsent_.clear();
      return;
    }
    unsent_.erase(0, static_cast<size_t>(n));
  }
}

void Link::Fail(absl::Status status) {
  if (!status_.ok()) return;
  status_ = std::move(status);
  unsent_.clear();
  socket_.Close();
}

}  // namespace meshwright::gang
