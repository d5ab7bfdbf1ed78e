#include "executor/worker/gloo_communicator.h"

#include <stdlib.h>

#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "executor/worker/backend_communicator.h"

namespace meshwright {

void DisableFlightRecorder() { ::setenv("TORCH_FR_BUFFER_SIZE", "0", /*overwrite=*/1); }

std::unique_ptr<Communicator> ConnectGloo(const c10::intrusive_ptr<c10d::Store>& store,
                                          const GroupSpec& group, int32_t rank) {
  const GroupPlace place = PlaceIn(store, group, rank);
  return WithCommunicationErrors("connect", [&] {
    auto options = c10d::ProcessGroupGloo::Options::create(group.timeout);
    options->threads = 1;
    options->devices.push_back(
        c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1", /*lazyInit=*/false));
    return MakeBackendCommunicator(c10::make_intrusive<c10d::ProcessGroupGloo>(
        place.store, place.index, place.size, std::move(options)));
  });
}

}  // namespace meshwright
