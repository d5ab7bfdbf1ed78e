// Identifies a LibTorch build by its version.py.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace meshwright::launcher {

// Returns the version with the CUDA release it was built for, like "2.11.0+cu130". Where the
// version does not name CUDA it is completed from the line `cuda = '13.0'`; a build without CUDA
// stays as it is. nullopt where the text has no version.
std::optional<std::string> TorchVersion(std::string_view version_py);

}  // namespace meshwright::launcher
