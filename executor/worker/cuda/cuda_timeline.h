// CudaTimeline converts the times of a CUDA device's events to the host's monotonic clock.
#pragma once

#include <c10/cuda/CUDAEvent.h>

#include <memory>
#include <vector>

#include "executor/worker/comm/device_clock.h"

namespace meshwright::worker {

// Returns an event with timing enabled.
inline c10::cuda::CUDAEvent TimedEvent() { return c10::cuda::CUDAEvent(cudaEventDefault); }

class CudaTimeline {
 public:
  // Waits for the device, then records an event and the host's time when it happens.
  void Anchor();
  // Returns when `event` happened, in seconds of the host's monotonic clock. REQUIRES: the event
  // happened after the last Anchor().
  double Seconds(const c10::cuda::CUDAEvent& event) const;

 private:
  c10::cuda::CUDAEvent anchor_ = TimedEvent();
  double anchor_s_ = 0.0;
};

// The clock of a CUDA device. Its marks are events on the current stream.
class CudaClock final : public DeviceClock {
 public:
  explicit CudaClock(std::shared_ptr<CudaTimeline> timeline) : timeline_(std::move(timeline)) {}

  void Restart() override;
  Mark Now() override;
  double Seconds(Mark mark) const override;

 private:
  const std::shared_ptr<CudaTimeline> timeline_;
  std::vector<c10::cuda::CUDAEvent> events_;  // reused after each Restart()
  size_t used_ = 0;
};

}  // namespace meshwright::worker
