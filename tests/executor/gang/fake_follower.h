// FakeFollower plays a follower over a connection. It answers pings with its own clock, and sends
// given frames when it is started and when it is told to end.
#pragma once

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "executor/gang/link.h"

namespace meshwright::gang {

class FakeFollower {
 public:
  FakeFollower(TlsSocket socket, double clock_ahead_s, std::vector<Frame> says,
               std::vector<Frame> says_at_end)
      : clock_ahead_s_(clock_ahead_s),
        says_(std::move(says)),
        says_at_end_(std::move(says_at_end)),
        link_(std::move(socket), MonotonicNow),
        thread_([this] { Loop(); }) {}
  ~FakeFollower() {
    vanishes_ = true;
    thread_.join();
  }

  // Closes the connection without a frame.
  void Vanish() { vanishes_ = true; }
  bool was_told_to_end() const { return told_to_end_; }

 private:
  void Loop() {
    while (!vanishes_ && link_.status().ok()) {
      std::vector<pollfd> descriptors;
      link_.AddDescriptor(descriptors);
      ::poll(descriptors.data(), descriptors.size(), /*timeout=*/10);
      for (const Frame& frame : link_.Receive()) Take(frame);
    }
    link_.Close(/*limit_s=*/0.0);
  }

  void Take(const Frame& frame) {
    if (const auto* ping = std::get_if<PingFrame>(&frame)) {
      const double now_s = absl::ToDoubleSeconds(MonotonicNow().since_start);
      link_.Send(PongFrame{.sent_s = ping->sent_s, .clock_s = now_s + clock_ahead_s_});
    } else if (std::holds_alternative<StartFrame>(frame)) {
      for (const Frame& said : says_) link_.Send(said);
    } else if (std::holds_alternative<EndFrame>(frame)) {
      for (const Frame& said : says_at_end_) link_.Send(said);
      told_to_end_ = true;
    }
  }

  const double clock_ahead_s_;
  const std::vector<Frame> says_;
  const std::vector<Frame> says_at_end_;
  std::atomic<bool> vanishes_ = false;
  std::atomic<bool> told_to_end_ = false;
  Link link_;
  std::thread thread_;
};

}  // namespace meshwright::gang
