#include "executor/gang/link.h"

#include <array>
#include <utility>

#include "absl/time/time.h"

namespace meshwright::gang {
namespace {

// Limit per call, so that the receiver's thread gets to its other work.
constexpr size_t kMostReceivedBytes = size_t{1} << 20;

}  // namespace

Link::Link(TlsSocket socket, MonotonicClock clock)
    : socket_(std::move(socket)), clock_(std::move(clock)), heard_(clock_()) {}

void Link::Send(Frame frame) {
  if (!status_.ok() || !send_status_.ok()) return;
  unsent_ += EncodeFrame(std::move(frame));
  Flush();
}

std::vector<Frame> Link::Receive() {
  std::vector<Frame> frames;
  std::array<char, kMostRecordBytes> buffer;
  for (size_t received = 0; status_.ok() && received < kMostReceivedBytes;) {
    const absl::StatusOr<size_t> n = socket_.Receive(buffer);
    if (!n.ok() || *n == 0) {
      Fail(n.ok() ? send_status_ : n.status());
      break;
    }
    heard_ = clock_();
    received += *n;
    absl::StatusOr<std::vector<Frame>> come = reader_.TakeIn({buffer.data(), *n});
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
  descriptors.push_back({.fd = socket_.descriptor(), .events = events, .revents = 0});
}

double Link::silence_s() const {
  return absl::ToDoubleSeconds(clock_().since_start - heard_.since_start);
}

void Link::Close(double limit_s) {
  const MonotonicTime until = clock_() + absl::Seconds(limit_s);
  bool told = false;
  while (status_.ok() && clock_() < until) {
    if (unsent_.empty() && !told) told = socket_.EndSending().value_or(true);
    std::vector<pollfd> descriptors;
    AddDescriptor(descriptors);
    ::poll(descriptors.data(), descriptors.size(), /*timeout=*/50);
    Receive();
  }
  Fail(absl::UnavailableError("this end closed the connection"));
}

void Link::Flush() {
  if (!status_.ok() || unsent_.empty()) return;
  const absl::StatusOr<size_t> n = socket_.Send(unsent_);
  if (!n.ok()) send_status_ = n.status();
  unsent_.erase(0, n.value_or(unsent_.size()));
}

void Link::Fail(absl::Status status) {
  if (!status_.ok() || status.ok()) return;
  status_ = std::move(status);
  unsent_.clear();
  socket_.Close();
}

}  // namespace meshwright::gang
