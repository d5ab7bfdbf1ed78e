// A follower's connection to its leader: how it gets there, and what it is told.
#pragma once

#include <poll.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/gang/gang.h"
#include "executor/gang/link.h"
#include "executor/gang/socket_address.h"
#include "executor/gang/timing.h"

namespace meshwright::gang {

class LeaderLink {
 public:
  // Goes to the gate and says who comes. An error where nobody of the gang answers there within
  // timing.join_s; Cancelled once `cancelled` is.
  static absl::StatusOr<LeaderLink> Reach(const Membership& place, const SocketAddress& gate,
                                          const Timing& timing,
                                          const std::function<bool()>& cancelled);

  void Send(Frame frame) { link_.Send(std::move(frame)); }
  // Takes in what has come, and tells the leader the time where it asks.
  void Pump();
  void AddDescriptor(std::vector<pollfd>& descriptors) const { link_.AddDescriptor(descriptors); }
  // Waits for something to come, or a moment.
  void Wait() const;

  bool admitted() const { return admitted_; }
  bool started() const { return started_; }
  // That the leader has ended the run, or is lost.
  bool ended() const { return ended_; }
  // Why there is no way on, where the leader did not say so.
  const std::string& why_lost() const { return why_lost_; }
  size_t unsent_bytes() const { return link_.unsent_bytes(); }
  // Sees that what was said arrives.
  void Close();

 private:
  LeaderLink(Link link, const Timing& timing) : link_(std::move(link)), timing_(timing) {}

  void Take(const Frame& frame);
  void NoticeLoss();

  Link link_;
  Timing timing_;
  bool admitted_ = false;
  bool started_ = false;
  bool ended_ = false;
  std::string why_lost_;
};

}  // namespace meshwright::gang
