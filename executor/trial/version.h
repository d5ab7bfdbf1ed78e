// The worker's version, as it appears in results.
#pragma once

#include <string_view>

namespace meshwright::trial {

// Of this build; the worker and the runner are built together.
constexpr std::string_view WorkerVersion() { return MESHWRIGHT_VERSION; }

}  // namespace meshwright::trial
