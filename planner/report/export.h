// Exports a layout in the form in which the user's own framework launches it: flags for
// Megatron-LM, a TOML file for torchtitan.
//
// A comment in the text says where the framework only approximates what the estimate is about. What
// the framework cannot express is InvalidArgument naming the part of the layout, or the key of the
// model's config.json, and what is accepted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "planner/report/export_job.h"

namespace meshwright::planner {

enum class ExportTarget : uint8_t { kMegatron, kTorchtitan };

std::string_view ExportTargetName(ExportTarget target);
absl::StatusOr<ExportTarget> ParseExportTarget(std::string_view text);

// Checks the layout against the model, the batch and what the framework can do, then writes it.
absl::StatusOr<std::string> Export(ExportTarget target, const ExportJob& job);

}  // namespace meshwright::planner
