#include "executor/worker/comm/gloo_communicator.h"

#include <stdlib.h>

#include <atomic>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "executor/worker/comm/backend_communicator.h"
#include "executor/worker/comm/device_clock.h"
#include "executor/worker/comm/memory_account.h"

namespace meshwright::worker {
namespace {

// Set by the thread that executes the group's operations.
class GlooDoneTime final : public DoneTime {
 public:
  std::optional<double> seconds() const override {
    const double at_s = at_s_;
    return at_s > 0.0 ? std::optional(at_s) : std::nullopt;
  }
  void Set() { at_s_ = MonotonicSeconds(); }

 private:
  std::atomic<double> at_s_{0.0};
};

// Observes operations that a thread of the group executes. Messages and reduce-scatters are
// completed by whoever waits for them, so they return null.
std::shared_ptr<const DoneTime> Watch(c10d::Work& work) {
  if (dynamic_cast<c10d::ProcessGroupGloo::AsyncWork*>(&work) == nullptr) return nullptr;
  auto done = std::make_shared<GlooDoneTime>();
  work.getFuture()->addCallback([done](c10::ivalue::Future&) { done->Set(); });
  return done;
}

// Excludes Torch's copies from the rank's memory: it gathers into a copy of the output and reduces
// a copy of the input, both allocated on the calling thread.
class UncountedGloo final : public c10d::ProcessGroupGloo {
 public:
  using ProcessGroupGloo::ProcessGroupGloo;

  c10::intrusive_ptr<c10d::Work> _allgather_base(at::Tensor& output, at::Tensor& input,
                                                 const c10d::AllgatherOptions& options) override {
    const ScopedMemoryAccount nobody(nullptr);
    return ProcessGroupGloo::_allgather_base(output, input, options);
  }

  c10::intrusive_ptr<c10d::Work> _reduce_scatter_base(
      at::Tensor& output, at::Tensor& input, const c10d::ReduceScatterOptions& options) override {
    const ScopedMemoryAccount nobody(nullptr);
    return ProcessGroupGloo::_reduce_scatter_base(output, input, options);
  }
};

}  // namespace

void DisableFlightRecorder() { ::setenv("TORCH_FR_BUFFER_SIZE", "0", /*overwrite=*/1); }

std::unique_ptr<Communicator> ConnectGloo(const c10::intrusive_ptr<c10d::Store>& store,
                                          const GroupSpec& group, int32_t rank,
                                          const std::string& address) {
  const GroupPlace place = PlaceIn(store, group, rank);
  return WithCommunicationErrors("connect", [&] {
    auto options = c10d::ProcessGroupGloo::Options::create(group.timeout);
    options->threads = 1;
    options->devices.push_back(
        c10d::ProcessGroupGloo::createDeviceForHostname(address, /*lazyInit=*/false));
    return MakeBackendCommunicator(c10::make_intrusive<UncountedGloo>(
                                       place.store, place.index, place.size, std::move(options)),
                                   TensorHold::kLent, Watch);
  });
}

}  // namespace meshwright::worker
