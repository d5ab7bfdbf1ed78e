// WorkerEnvironment is a worker's position among the ranks of its run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace meshwright::worker {

// Read from torchrun's environment variables and the flags.
struct WorkerEnvironment {
  int32_t rank = 0;
  int32_t local_rank = 0;
  int32_t world_size = 1;
  int32_t local_world_size = 1;       // ranks on this host
  std::string address = "127.0.0.1";  // at which the other ranks reach this host
  std::string master_address = "127.0.0.1";
  uint16_t master_port = 0;
  // A listening socket on master_port for rank 0 to use. If it is not set, rank 0 opens one.
  std::optional<int> listen_descriptor;
};

}  // namespace meshwright::worker
