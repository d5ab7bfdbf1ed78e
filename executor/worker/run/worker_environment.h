// Where a worker stands among the ranks of its run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace meshwright::worker {

// What torchrun's environment and the flags say.
struct WorkerEnvironment {
  int32_t rank = 0;
  int32_t local_rank = 0;
  int32_t world_size = 1;
  int32_t local_world_size = 1;       // ranks of this host
  std::string address = "127.0.0.1";  // of this host, as the other ranks reach it
  std::string master_address = "127.0.0.1";
  uint16_t master_port = 0;
  // A listening socket on master_port that rank 0 takes over; without it rank 0 opens one.
  std::optional<int> listen_descriptor;
};

}  // namespace meshwright::worker
