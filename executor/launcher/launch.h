// What the launcher turns into: a program that is linked to LibTorch, in an environment in which
// its linker finds it.
#pragma once

#include <string>
#include <vector>

#include "executor/launcher/machine.h"

namespace meshwright::launcher {

struct Launch {
  // argument 0 included.
  std::vector<std::string> arguments;
  // NAME=VALUE, all of them.
  std::vector<std::string> environment;
  // Why nothing is started; the rest is empty then.
  std::string problem;
};

// `arguments` and `environment` are the launcher's own. `--exec PROGRAM ARGUMENT...` starts that
// program, anything else is for the archive's worker. Needs LibTorch of the version `needed` (see
// FindTorch).
Launch PlanLaunch(const std::string& archive_root, const std::string& needed,
                  const std::vector<std::string>& arguments,
                  const std::vector<std::string>& environment, const Machine& machine);

// The folders in which the linker is to look: LibTorch's own, the CUDA libraries that pip puts
// beside it (nvidia/*/lib), a CUDA toolkit of the machine, and then those of LD_LIBRARY_PATH. Those
// of the machine that exist, each once, separated by colons.
std::string LibraryPath(const std::string& torch_folder, const Machine& machine);

}  // namespace meshwright::launcher
