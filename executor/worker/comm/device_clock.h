// DeviceClock marks points in a rank's sequence of work and tells when each was reached. On a CPU,
// a point is reached when the rank's thread reaches it. On a GPU, a point is reached when the
// device has done all work that was issued before the mark.
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

  // Forgets all marks. On a GPU, also recalibrates the device's time to the host's.
  virtual void Restart() = 0;
  // Marks the moment when the thread reaches this call, or on a GPU, when the current stream does.
  virtual Mark Now() = 0;
  // Returns the time of `mark` in seconds of the host's monotonic clock. REQUIRES: the device was
  // synchronized after the mark.
  virtual double Seconds(Mark mark) const = 0;
};

// Returns the seconds of CLOCK_MONOTONIC, which all processes of a host share.
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
