// WorkerVersion() is the worker's version in results, and CheckWorkerVersion() checks the version
// of a worker program.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "executor/trial/device_list.h"

namespace meshwright::trial {

// Returns the version of this program. The worker is built together with it.
constexpr std::string_view WorkerVersion() { return MESHWRIGHT_VERSION; }

// Runs the program at `worker_path` with --version. Returns InvalidArgument for the field `worker`
// if the program is a worker of another version or no worker. The error has both versions.
absl::Status CheckWorkerVersion(const std::string& worker_path, const ProgramRunner& run);

}  // namespace meshwright::trial
