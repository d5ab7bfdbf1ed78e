#include "executor/agent/device_set.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>

#include "absl/strings/ascii.h"

namespace meshwright {
int32_t CountGpus() {
  int32_t count = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/dev", error)) {
    const std::string name = entry.path().filename().string();
    constexpr std::string_view kPrefix = "nvidia";
    // nvidia0, nvidia1, …; not nvidiactl or nvidia-uvm.
    if (name.size() > kPrefix.size() && name.starts_with(kPrefix) &&
        std::all_of(name.begin() + kPrefix.size(), name.end(),
                    [](char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); })) {
      ++count;
    }
  }
  return count;
}

}  // namespace meshwright
