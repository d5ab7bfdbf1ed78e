#include "executor/worker/run/rendezvous.h"

#include <torch/csrc/distributed/c10d/TCPStore.hpp>

namespace meshwright::worker {

c10::intrusive_ptr<c10d::Store> OpenStore(const WorkerEnvironment& environment,
                                          std::chrono::milliseconds timeout) {
  c10d::TCPStoreOptions options;
  options.port = environment.master_port;
  options.isServer = environment.rank == 0;
  options.numWorkers = environment.world_size;
  options.timeout = timeout;
  if (options.isServer) options.masterListenFd = environment.listen_descriptor;
  return c10::make_intrusive<c10d::TCPStore>(environment.master_address, options);
}

}  // namespace meshwright::worker
