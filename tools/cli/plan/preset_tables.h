// These functions print the presets of `meshwright list`: one row per preset, or JSON. A value that
// the server does not send is printed as -.
#pragma once

#include <ostream>
#include <vector>

#include "planner/report/cluster_preset.h"
#include "planner/report/model_preset.h"
#include "planner/report/profile_preset.h"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

void PrintModelPresets(const std::vector<planner::ModelPreset>& presets, OutputFormat format,
                       std::ostream& out);
void PrintClusterPresets(const std::vector<planner::ClusterPreset>& presets, OutputFormat format,
                         std::ostream& out);
void PrintProfilePresets(const std::vector<planner::ProfilePreset>& presets, OutputFormat format,
                         std::ostream& out);

}  // namespace meshwright::cli
