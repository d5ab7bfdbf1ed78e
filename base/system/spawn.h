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

// Spawn() sets the child's descriptors one after the other. Sources from this number on are
// overwritten by none of them.
inline constexpr int kFirstSpawnSource = 64;

struct SpawnRequest {
  std::string path;                      // of the program
  std::vector<std::string> arguments;    // the program's name included
  std::vector<std::string> environment;  // NAME=VALUE
  // The child's descriptors: the number here, at least kFirstSpawnSource, and the number there. The
  // child has no others.
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
// Returns a pipe, both of whose ends can be sources of Spawn() and are closed in other programs.
absl::StatusOr<SpawnPipe> MakeSpawnPipe();

// Appends what can be read without waiting from `fd`, which does not block, until `out` has at
// least `most_bytes`. Closes `fd` at the end of the stream.
void ReadAvailable(UniqueFd& fd, size_t most_bytes, std::string& out);

}  // namespace meshwright
