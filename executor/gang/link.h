// Link is the connection between the leader and one follower, seen from either end: non-blocking
// frames in both directions, until one end is gone.
#pragma once

#include <poll.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/system/monotonic_time.h"
#include "base/system/unique_fd.h"
#include "executor/gang/frame.h"

namespace meshwright::gang {

class Link {
 public:
  // REQUIRES: `socket` is non-blocking.
  Link(UniqueFd socket, MonotonicClock clock);

  // Sends as much as the socket takes and keeps the rest for later calls.
  void Send(Frame frame);
  // Returns the frames that have arrived, and sends kept bytes.
  std::vector<Frame> Receive();
  // Adds the descriptor and events to poll for.
  void AddDescriptor(std::vector<pollfd>& descriptors) const;

  // OK while the link works, else why it does not. What arrived before can still be received.
  const absl::Status& status() const { return status_; }
  size_t unsent_bytes() const { return unsent_.size(); }
  // Seconds since anything arrived.
  double silence_s() const;

  // Shuts down the sending side and waits at most `limit_s` for the other end to close: closing at
  // once could lose what was sent.
  void Close(double limit_s);

 private:
  void Flush();
  void Fail(absl::Status status);

  UniqueFd socket_;
  MonotonicClock clock_;
  FrameReader reader_;
  std::string unsent_;
  MonotonicTime heard_;
  absl::Status send_status_;  // kept apart: the peer's last frames may still be readable
  absl::Status status_;
};

}  // namespace meshwright::gang
