#include "executor/worker/cuda/cuda_timeline.h"

#include <c10/cuda/CUDAFunctions.h>

namespace meshwright::worker {

void CudaTimeline::Anchor() {
  c10::cuda::device_synchronize();
  anchor_.record();
  anchor_.synchronize();
  anchor_s_ = MonotonicSeconds();
}

double CudaTimeline::Seconds(const c10::cuda::CUDAEvent& event) const {
  return anchor_s_ + static_cast<double>(anchor_.elapsed_time(event)) * 1e-3;
}

void CudaClock::Restart() {
  used_ = 0;
  timeline_->Anchor();
}

DeviceClock::Mark CudaClock::Now() {
  if (used_ == events_.size()) events_.push_back(TimedEvent());
  events_[used_].record();
  return static_cast<Mark>(used_++);
}

double CudaClock::Seconds(Mark mark) const {
  return timeline_->Seconds(events_[static_cast<size_t>(mark)]);
}

}  // namespace meshwright::worker
