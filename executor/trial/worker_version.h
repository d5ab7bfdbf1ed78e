// Checks whether a program is the worker of this build.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "executor/trial/device_list.h"

namespace meshwright::trial {

// Runs `meshwright-worker --version`. InvalidArgument about the field `worker`, with both versions,
// where the program is of another build or not a worker.
absl::Status CheckWorkerVersion(const std::string& worker_path, const ProgramRunner& run);

}  // namespace meshwright::trial
