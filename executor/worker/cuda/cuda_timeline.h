// The times of a CUDA device's events on the host's monotonic clock.
#pragma once

#include <c10/cuda/CUDAEvent.h>

#include <memory>
#include <vector>

#include "executor/worker/comm/device_clock.h"

namespace meshwright::worker {

// An event that can be timed.
inline c10::cuda::CUDAEvent TimedEvent() { return c10::cuda::CUDAEvent(cudaEventDefault); }

class CudaTimeline {
 public:
  // Waits for the device and takes the host's time at a moment that both know.
  void Anchor();
  // Requires an event that happened since the last Anchor().
  double Seconds(const c10::cuda::CUDAEvent& event) const;

 private:
  c10::cuda::CUDAEvent anchor_ = TimedEvent();
  double anchor_s_ = 0.0;
};

// Marks are events on the current stream.
class CudaClock final : public DeviceClock {
 public:
  explicit CudaClock(std::shared_ptr<CudaTimeline> timeline) : timeline_(std::move(timeline)) {}

  void Restart() override;
  Mark Now() override;
  double Seconds(Mark mark) const override;

 private:
  const std::shared_ptr<CudaTimeline> timeline_;
  std::vector<c10::cuda::CUDAEvent> events_;  // used again after each Restart()
  size_t used_ = 0;
};

}  // namespace meshwright::worker
