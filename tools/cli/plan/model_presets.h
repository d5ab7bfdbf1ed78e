// Prints the model presets of `meshwright list models`.
#pragma once

#include <ostream>
#include <vector>

#include "planner/report/model_preset.h"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

// Prints one row per preset, or as JSON. What a server does not say of a preset is printed as -.
void PrintModelPresets(const std::vector<planner::ModelPreset>& presets, OutputFormat format,
                       std::ostream& out);

}  // namespace meshwright::cli
