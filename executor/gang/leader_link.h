// LeaderLink is a follower's connection to its leader: it connects, joins and tracks the leader's
// commands.
#pragma once

#include <poll.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/gang/gang.h"
#include "executor/gang/link.h"
#include "executor/gang/socket_address.h"

namespace meshwright::gang {

class LeaderLink {
 public:
  // Connects to `address` and sends the join frame. Returns Unavailable if no member of the gang
  // can be reached there within timing.join_s, and Cancelled if `cancelled` returns true.
  static absl::StatusOr<LeaderLink> Reach(const Membership& membership,
                                          const SocketAddress& address, const Timing& timing,
                                          const std::function<bool()>& cancelled);

  void Send(Frame frame) { link_.Send(std::move(frame)); }
  // Handles the frames that have arrived, and answers pings.
  void Pump();
  void AddDescriptor(std::vector<pollfd>& descriptors) const { link_.AddDescriptor(descriptors); }
  // Waits briefly for frames to arrive.
  void Wait() const;

  bool admitted() const { return admitted_; }
  bool started() const { return start_.has_value(); }
  // What the leader said when it told this member to start. REQUIRES: started().
  const StartFrame& start() const { return *start_; }
  // Returns whether the leader has ended the run, has refused this member or is lost.
  bool ended() const { return ended_; }
  // Returns why the leader refused this member or was lost. Returns an empty string after an
  // ordinary end.
  const std::string& why_lost() const { return why_lost_; }
  size_t unsent_bytes() const { return link_.unsent_bytes(); }
  // Waits a limited time until the leader has the sent frames, and closes the connection.
  void Close();

 private:
  LeaderLink(Link link, const Timing& timing) : link_(std::move(link)), timing_(timing) {}

  void Take(const Frame& frame);
  void NoticeLoss();

  Link link_;
  Timing timing_;
  bool admitted_ = false;
  std::optional<StartFrame> start_;
  bool ended_ = false;
  std::string why_lost_;
};

}  // namespace meshwright::gang
