// Spawn() starts a child program in a process group of its own, with exactly the descriptors and
// variables that it is given.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/system/unique_fd.h"

namespace meshwright {

// Spawn() sets the child's descriptors one after the other. In the child their numbers are below
// this one, so that none overwrites a source that is still needed.
inline constexpr int kFirstSpawnSource = 64;

struct SpawnRequest {
  std::string path;                      // of the program
  std::vector<std::string> arguments;    // the program's name included
  std::vector<std::string> environment;  // NAME=VALUE
  // The child's descriptors, each as its number in this process, at least kFirstSpawnSource, and
  // its number in the child. The child has no other descriptors.
  std::vector<std::pair<int, int>> descriptors;
  std::string folder = {};  // the child's working folder; empty: this process's
};

// Starts the program with default signal actions and no blocked signals. Returns its pid, or
// Unavailable with the system's message.
absl::StatusOr<pid_t> Spawn(SpawnRequest request);

struct SpawnPipe {
  UniqueFd read;
  UniqueFd write;
};
// Returns a pipe. Both of its ends can be sources of Spawn(), and are closed on exec.
absl::StatusOr<SpawnPipe> MakeSpawnPipe();

// Reads from the non-blocking `fd` and appends to `out`, until no more bytes are available or `out`
// has at least `most_bytes`. Closes `fd` at the end of the stream.
void ReadAvailable(UniqueFd& fd, size_t most_bytes, std::string& out);

}  // namespace meshwright
