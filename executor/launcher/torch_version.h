// Which build of LibTorch a folder holds, by its version.py.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace meshwright::launcher {

// The version with the CUDA release that it was built for, like "2.11.0+cu130": a build that does
// not name CUDA in its version is completed from the line `cuda = '13.0'`; one without CUDA stays
// as it is. nullopt where the text names no version.
std::optional<std::string> TorchVersion(std::string_view version_py);

}  // namespace meshwright::launcher
