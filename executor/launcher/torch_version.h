// TorchVersion() identifies a LibTorch build by its version.py.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace meshwright::launcher {

// Returns the version with the CUDA release that LibTorch was built for, such as "2.11.0+cu130". If
// the version itself does not name the release, the release is taken from the line `cuda = '13.0'`.
// A build without CUDA has no such line, and its version is returned unchanged. Returns nullopt if
// the text has no version.
std::optional<std::string> TorchVersion(std::string_view version_py);

}  // namespace meshwright::launcher
