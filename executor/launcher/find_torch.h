// FindTorch() finds the folder of LibTorch with which an unpacked archive of Meshwright runs. Like
// the folder of the Python package torch, it holds lib/ and version.py.
//
// The following places are searched in order, and only the first folder found is tried:
//   1. MESHWRIGHT_TORCH_DIR
//   2. the folder torch beside the archive's root folder
//   3. the package torch of the python3 on PATH, which is located without being imported
//
// The worker runs only with the version of LibTorch that it was built against. A folder with
// another version is refused, not skipped.
#pragma once

#include <optional>
#include <string>

#include "executor/launcher/machine.h"

namespace meshwright::launcher {

// Environment variable that names the folder of LibTorch. The launcher also sets it for the program
// that it starts, so that a nested launcher needs no search.
inline constexpr char kTorchDirVariable[] = "MESHWRIGHT_TORCH_DIR";

struct TorchSearch {
  // The folder's absolute path, with links resolved.
  std::optional<std::string> folder;
  // If there is no folder, says why and what to do, in one or more lines for the user.
  std::string problem;
};

// Searches for LibTorch of the version `needed`, which is written as TorchVersion() returns it.
// `archive_root` is an absolute path.
TorchSearch FindTorch(const std::string& archive_root, const std::string& needed,
                      const Machine& machine);

}  // namespace meshwright::launcher
