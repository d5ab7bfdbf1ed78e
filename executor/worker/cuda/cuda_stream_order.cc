#include "executor/worker/cuda/cuda_stream_order.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>

namespace meshwright::worker {
namespace {

class EventMark final : public StreamMark {
 public:
  EventMark(const c10::cuda::CUDAStream& stream, bool timed)
      : event_(timed ? TimedEvent() : c10::cuda::CUDAEvent()) {
    event_.record(stream);
  }

  // Waiting for an event does not modify it and is allowed from any thread.
  c10::cuda::CUDAEvent& event() const { return event_; }

 private:
  mutable c10::cuda::CUDAEvent event_;
};

void Wait(const c10::cuda::CUDAStream& stream, const StreamMark& mark) {
  static_cast<const EventMark&>(mark).event().block(stream);
}

}  // namespace

// Streams come from Torch's pools, which hold 32 per priority: they live as long as the process, so
// memory last used on one of them can be freed at any time.
CudaStreamOrder::CudaStreamOrder(c10::DeviceIndex device,
                                 std::shared_ptr<const CudaTimeline> timeline)
    : timeline_(std::move(timeline)),
      operations_(c10::cuda::getStreamFromPool(/*isHighPriority=*/true, device)) {
  c10::cuda::setCurrentCUDAStream(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device));
}

StreamOrder::Mark CudaStreamOrder::Now() {
  return std::make_shared<EventMark>(c10::cuda::getCurrentCUDAStream(), /*timed=*/false);
}

void CudaStreamOrder::ComeAfter(const StreamMark& mark) {
  Wait(c10::cuda::getCurrentCUDAStream(), mark);
}

StreamOrder::Mark CudaStreamOrder::Run(const std::vector<Mark>& marks,
                                       const std::vector<at::Tensor>& tensors,
                                       const std::function<void()>& operation) {
  for (const Mark& mark : marks) Wait(operations_, *mark);
  // The allocator reuses memory in the order of the stream that allocated it, so other uses must be
  // recorded.
  for (const at::Tensor& tensor : tensors) {
    c10::cuda::CUDACachingAllocator::recordStream(tensor.storage().data_ptr(), operations_);
  }
  const c10::cuda::CUDAStreamGuard guard(operations_);
  operation();
  return std::make_shared<EventMark>(operations_, /*timed=*/true);
}

std::optional<double> CudaStreamOrder::Seconds(const StreamMark& end) const {
  const c10::cuda::CUDAEvent& event = static_cast<const EventMark&>(end).event();
  return event.query() ? std::optional(timeline_->Seconds(event)) : std::nullopt;
}

}  // namespace meshwright::worker
