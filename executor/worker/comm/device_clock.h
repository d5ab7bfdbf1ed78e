// Moments in the order of what a rank does: on a CPU the times at which its thread gets there, on a
// device the times at which the device does, behind the work that was issued before.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

namespace meshwright::worker {

class DeviceClock {
 public:
  using Mark = int32_t;

  virtual ~DeviceClock() = default;

  // Forgets all marks, and on a device ties its time to the host's anew.
  virtual void Restart() = 0;
  // The moment when the current stream gets here.
  virtual Mark Now() = 0;
  // Seconds of the host's monotonic clock. Requires that the device was synchronized since the
  // mark.
  virtual double Seconds(Mark mark) const = 0;
};

// CLOCK_MONOTONIC, which all processes of a host share.
inline double MonotonicSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The clock of ranks that compute on the host.
class HostClock final : public DeviceClock {
 public:
  void Restart() override { times_s_.clear(); }
  Mark Now() override {
    times_s_.push_back(MonotonicSeconds());
    return static_cast<Mark>(times_s_.size() - 1);
  }
  double Seconds(Mark mark) const override { return times_s_[static_cast<size_t>(mark)]; }

 private:
  std::vector<double> times_s_;
};

}  // namespace meshwright::worker
