// Link is one end of the connection between the leader and a follower. It sends and receives frames
// without blocking.
#pragma once

#include <poll.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/system/monotonic_time.h"
#include "executor/gang/frame.h"
#include "executor/gang/tls_socket.h"

namespace meshwright::gang {

class Link {
 public:
  // REQUIRES: `socket` is authenticated.
  Link(TlsSocket socket, MonotonicClock clock);

  // Sends as much of the frame as the socket takes, and keeps the rest for later calls.
  void Send(Frame frame);
  // Returns the frames that have arrived, and sends bytes that Send() kept.
  std::vector<Frame> Receive();
  // Adds the descriptor and events to poll for.
  void AddDescriptor(std::vector<pollfd>& descriptors) const;

  // Returns OK while the link works, and afterwards why it broke. A link that can no longer send
  // counts as working until Receive() has returned everything that the other end sent.
  const absl::Status& status() const { return status_; }
  size_t unsent_bytes() const { return unsent_.size(); }
  // Returns the seconds since anything arrived.
  double silence_s() const;

  // Ends the sending side and waits at most `limit_s` seconds for the other end to close. An
  // immediate close could lose sent frames.
  void Close(double limit_s);

 private:
  void Flush();
  void Fail(absl::Status status);

  TlsSocket socket_;
  MonotonicClock clock_;
  FrameReader reader_;
  std::string unsent_;
  MonotonicTime heard_;
  absl::Status send_status_;  // not in status_, as the peer's last frames may still be readable
  absl::Status status_;
};

}  // namespace meshwright::gang
