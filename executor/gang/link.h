// A member's connection to the leader, and the leader's to it: frames in both directions, without
// waiting, until one end is gone.
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
  // Of a socket in which nothing waits.
  Link(UniqueFd socket, MonotonicClock clock);

  // Sends what can be sent at once and keeps the rest for later calls.
  void Send(Frame frame);
  // What has come. Sends what was kept.
  std::vector<Frame> Receive();
  // Adds what there is to wait for.
  void AddDescriptor(std::vector<pollfd>& descriptors) const;

  // Why it is of no use any more; OK while it is. What came before can still be received.
  const absl::Status& status() const { return status_; }
  size_t unsent_bytes() const { return unsent_.size(); }
  // Since something came.
  double silence_s() const;

  // Tells the other end that nothing more comes, and waits for its goodbye or for `limit_s`: what
  // was sent may be lost where a connection is closed at once.
  void Close(double limit_s);

 private:
  void Flush();
  void Fail(absl::Status status);

  UniqueFd socket_;
  MonotonicClock clock_;
  FrameReader reader_;
  std::string unsent_;
  MonotonicTime heard_;
  absl::Status send_status_;  // what the other end said before it went may still be there
  absl::Status status_;
};

}  // namespace meshwright::gang
