#include "executor/worker/cuda/nccl_communicator.h"

#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "executor/worker/backend_communicator.h"

namespace meshwright {

std::unique_ptr<Communicator> ConnectNccl(const c10::intrusive_ptr<c10d::Store>& store,
                                          const GroupSpec& group, int32_t rank, at::Device device) {
  const GroupPlace place = PlaceIn(store, group, rank);
  return WithCommunicationErrors("connect", [&] {
    auto options = c10d::ProcessGroupNCCL::Options::create();
    options->timeout = group.timeout;
    auto process_group = c10::make_intrusive<c10d::ProcessGroupNCCL>(
        place.store, place.index, place.size, std::move(options));
    process_group->eagerConnectSingleDevice(device);
    return MakeBackendCommunicator(std::move(process_group));
  });
}

}  // namespace meshwright
