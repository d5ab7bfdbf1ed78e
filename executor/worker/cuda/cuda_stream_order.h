// CudaStreamOrder orders one rank's work on a CUDA device that it shares with other ranks of its
// process.
//
// Marks are events. Group operations run on a second stream, so that only events order them with
// the rank's own stream, as with NCCL.
#pragma once

#include <c10/cuda/CUDAStream.h>

#include <memory>

#include "executor/worker/comm/stream_order.h"
#include "executor/worker/cuda/cuda_timeline.h"

namespace meshwright::worker {

class CudaStreamOrder final : public StreamOrder {
 public:
  // Creates the order of the calling thread's rank. Gives the thread a current stream of its own;
  // up to 32 ranks get distinct streams. Times are on the rank's `timeline`.
  CudaStreamOrder(c10::DeviceIndex device, std::shared_ptr<const CudaTimeline> timeline);

  Mark Now() override;
  void ComeAfter(const StreamMark& mark) override;
  Mark Run(const std::vector<Mark>& marks, const std::vector<at::Tensor>& tensors,
           const std::function<void()>& operation) override;
  std::optional<double> Seconds(const StreamMark& end) const override;

 private:
  const std::shared_ptr<const CudaTimeline> timeline_;
  const c10::cuda::CUDAStream operations_;
};

}  // namespace meshwright::worker
