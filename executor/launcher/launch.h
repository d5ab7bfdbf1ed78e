// PlanLaunch() plans what the launcher executes: a program that is linked to LibTorch, in an
// environment in which the dynamic linker finds LibTorch.
#pragma once

#include <string>
#include <vector>

#include "executor/launcher/machine.h"

namespace meshwright::launcher {

struct Launch {
  // Includes argument 0.
  std::vector<std::string> arguments;
  // The whole environment, as NAME=VALUE.
  std::vector<std::string> environment;
  // If nothing can be started, says why; the other members are then empty.
  std::string problem;
};

// Plans the start of PROGRAM if `arguments` are `--exec PROGRAM ARGUMENT...`, and otherwise the
// start of the archive's worker with these arguments. `arguments` and `environment` are the
// launcher's own. Needs LibTorch of the version `needed` (see FindTorch()).
Launch PlanLaunch(const std::string& archive_root, const std::string& needed,
                  const std::vector<std::string>& arguments,
                  const std::vector<std::string>& environment, const Machine& machine);

// Returns the linker's search path: LibTorch's own folder, the CUDA libraries that pip installs
// beside it (nvidia/*/lib), the machine's CUDA toolkit, then LD_LIBRARY_PATH. Colons separate the
// folders, and no folder appears twice.
std::string LibraryPath(const std::string& torch_folder, const Machine& machine);

}  // namespace meshwright::launcher
