// Finds LibTorch for an unpacked archive: the folder with lib/ and version.py, as in the Python
// package.
//
// Searched in this order; the first place that names a folder decides:
//   1. MESHWRIGHT_TORCH_DIR
//   2. the folder torch beside the archive's root folder
//   3. the package torch of the python3 on PATH, which is located without being imported
//
// The worker only runs with the version of LibTorch it was built against: a folder with another
// version is refused, not skipped.
#pragma once

#include <optional>
#include <string>

#include "executor/launcher/machine.h"

namespace meshwright::launcher {

// Set by the launcher for the program it starts, so that a nested launcher needs no search.
inline constexpr char kTorchDirVariable[] = "MESHWRIGHT_TORCH_DIR";

struct TorchSearch {
  // Absolute, with links resolved.
  std::optional<std::string> folder;
  // Why there is none and what to do, as one or more lines for the user.
  std::string problem;
};

// `archive_root` is an absolute path, `needed` a version in the form of TorchVersion().
TorchSearch FindTorch(const std::string& archive_root, const std::string& needed,
                      const Machine& machine);

}  // namespace meshwright::launcher
