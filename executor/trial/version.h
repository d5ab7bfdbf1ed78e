// The worker's version, as it appears in results.
#pragma once

#include <string_view>

namespace meshwright::trial {

// The runner is built together with the worker, so it has the same version.
constexpr std::string_view WorkerVersion() { return MESHWRIGHT_VERSION; }

}  // namespace meshwright::trial
