// Identifies a LibTorch build by its version.py.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace meshwright::launcher {

// Returns the version and the CUDA release that it was built for, such as "2.11.0+cu130". If the
// version itself does not name the release, it is taken from the line `cuda = '13.0'`. A build
// without CUDA has no such line, and its version is returned as it is. Returns nullopt if the text
// has no version.
std::optional<std::string> TorchVersion(std::string_view version_py);

}  // namespace meshwright::launcher
