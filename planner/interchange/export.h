// Exports a layout in a form that the user's own framework can launch: a script with flags or
// overrides, or a YAML, JSON or Python file.
//
// If the framework only approximates what was estimated, a comment in the exported text says so.
// The export fails with InvalidArgument if the framework cannot express a part of the layout, of
// the options or of the model. The error names that part, or its key in the model's config.json,
// and what is accepted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "planner/interchange/export_job.h"
#include "planner/interchange/exported_job.h"

namespace meshwright::planner {

// Exports take nodes of at most this many devices.
inline constexpr int32_t kMaxDevicesPerNode = 1024;

// In the order of Frameworks().
enum class ExportTarget : uint8_t {
  kMegatron,
  kMegatronBridge,
  kTorchtitan,
  kAccelerate,
  kDeepspeed,
  kLlamaFactory,
  kAxolotl,
  kSwift,
  kVerl,
  kAutomodel,
  kNanotron
};

std::string_view ExportTargetName(ExportTarget target);
absl::StatusOr<ExportTarget> ParseExportTarget(std::string_view text);
// Returns the profile whose rules a layout for the target must keep.
std::string_view ProfileOfTarget(ExportTarget target);

// Returns the files and the command line of the export. Checks the layout against the model, the
// batch and what the framework can do.
absl::StatusOr<ExportedJob> MakeExportedJob(ExportTarget target, const ExportJob& job);

// Returns the export as one text: the framework's file, or the script that starts torchrun.
absl::StatusOr<std::string> Export(ExportTarget target, const ExportJob& job);

}  // namespace meshwright::planner
