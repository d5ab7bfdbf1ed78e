// The worker's version, as it appears in results, and whether a program is of it.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "executor/trial/device_list.h"

namespace meshwright::trial {

// The runner is built together with the worker, so it has the same version.
constexpr std::string_view WorkerVersion() { return MESHWRIGHT_VERSION; }

// Runs `meshwright-worker --version`. InvalidArgument about the field `worker`, with both versions,
// where the program is of another build or not a worker.
absl::Status CheckWorkerVersion(const std::string& worker_path, const ProgramRunner& run);

}  // namespace meshwright::trial
