#include "executor/worker/cuda/nccl_communicator.h"

#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <optional>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#include <utility>

#include "executor/worker/comm/backend_communicator.h"
#include "executor/worker/cuda/nccl_tuning.h"

namespace meshwright::worker {
namespace {

class NcclDoneTime final : public DoneTime {
 public:
  explicit NcclDoneTime(std::shared_ptr<const CudaTimeline> timeline)
      : timeline_(std::move(timeline)) {}

  std::optional<double> seconds() const override {
    return event_.query() ? std::optional(timeline_->Seconds(event_)) : std::nullopt;
  }
  c10::cuda::CUDAEvent& event() { return event_; }

 private:
  const std::shared_ptr<const CudaTimeline> timeline_;
  c10::cuda::CUDAEvent event_ = TimedEvent();
};

// A stream without computation that waits for each of a group's operations, which end in order, and
// records the time. The compute stream waits only where a result is needed.
class WatchStream {
 public:
  WatchStream(at::Device device, std::shared_ptr<const CudaTimeline> timeline)
      : timeline_(std::move(timeline)) {
    C10_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    torch_stream_.emplace(c10::cuda::getStreamFromExternal(stream_, device.index()));
  }
  ~WatchStream() { C10_CUDA_CHECK_WARN(cudaStreamDestroy(stream_)); }
  WatchStream(const WatchStream&) = delete;
  WatchStream& operator=(const WatchStream&) = delete;

  std::shared_ptr<const DoneTime> Watch(c10d::Work& work) {
    auto done = std::make_shared<NcclDoneTime>(timeline_);
    const c10::cuda::CUDAStreamGuard guard(*torch_stream_);
    // Makes the current stream wait, not the host.
    work.wait();
    done->event().record();
    return done;
  }

 private:
  const std::shared_ptr<const CudaTimeline> timeline_;
  cudaStream_t stream_ = nullptr;
  std::optional<c10::cuda::CUDAStream> torch_stream_;
};

c10::intrusive_ptr<c10d::ProcessGroupNCCL::Options> OptionsOf(const GroupSpec& group) {
  const NcclTuning tuning = NcclTuningOf(group.traffic);
  auto options = c10d::ProcessGroupNCCL::Options::create(tuning.high_priority);
  options->timeout = group.timeout;
  if (tuning.max_ctas.has_value()) options->config.maxCTAs = *tuning.max_ctas;
  return options;
}

}  // namespace

std::string NcclVersion() { return c10d::getNcclVersion(); }

std::unique_ptr<Communicator> ConnectNccl(const c10::intrusive_ptr<c10d::Store>& store,
                                          const GroupSpec& group, int32_t rank, at::Device device,
                                          std::shared_ptr<const CudaTimeline> timeline) {
  const GroupPlace place = PlaceIn(store, group, rank);
  return WithCommunicationErrors("connect", [&] {
    auto process_group = c10::make_intrusive<c10d::ProcessGroupNCCL>(place.store, place.index,
                                                                     place.size, OptionsOf(group));
    process_group->eagerConnectSingleDevice(device);
    auto stream = std::make_shared<WatchStream>(device, std::move(timeline));
    return MakeBackendCommunicator(std::move(process_group), TensorHold::kOwn,
                                   [stream](c10d::Work& work) { return stream->Watch(work); });
  });
}

}  // namespace meshwright::worker
