// Where LibTorch is, for an unpacked archive: the folder that holds lib/ and version.py, as in the
// Python package.
//
// Asked in this order, and the first that names a folder decides:
//   1. MESHWRIGHT_TORCH_DIR
//   2. the folder torch beside the archive's root folder
//   3. the package torch of the python3 on PATH, which is located without being imported
// The worker was built against one version of LibTorch and runs with no other: another one is
// refused, not passed over.
#pragma once

#include <optional>
#include <string>

#include "executor/launcher/machine.h"

namespace meshwright::launcher {

// Set by the launcher for what it starts, so that a launcher below needs no search.
inline constexpr char kTorchDirVariable[] = "MESHWRIGHT_TORCH_DIR";

struct TorchSearch {
  // Absolute and free of links.
  std::optional<std::string> folder;
  // Why there is none, with what to do: one or more lines for the user.
  std::string problem;
};

// `archive_root` is an absolute path, `needed` a version as TorchVersion() gives it.
TorchSearch FindTorch(const std::string& archive_root, const std::string& needed,
                      const Machine& machine);

}  // namespace meshwright::launcher
