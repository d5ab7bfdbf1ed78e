// Exports a layout as a configuration file of torchtitan.
//
// Keys as in torchtitan/config/job_config.py of the releases that read TOML (0.2); later releases
// moved to Python, with the same names.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "planner/report/export_job.h"

namespace meshwright::planner {

// Requires the checks of Export(). InvalidArgument for ZeRO-1, block recompute, tensor parallel
// without sequence parallel, zb_h1, and replicated data parallel combined with other axes:
// torchtitan has none of them.
absl::StatusOr<std::string> ExportTorchtitan(const ExportJob& job);

}  // namespace meshwright::planner
