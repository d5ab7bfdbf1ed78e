// These functions convert sweeps, their trials and their events to JSON, by their fields
// (tools/cli/sweep/sweep_fields.h).
#pragma once

#include "meshwright/v1/sweeps.pb.h"
#include "nlohmann/json.hpp"
#include "tools/cli/sweep/sweep_text.h"

namespace meshwright::cli {

nlohmann::ordered_json SweepToJson(const v1::Sweep& sweep);
// Returns the sweep with the request that made it, the peak FLOP/s of which its MFUs are shares,
// and its trials. Each trial has its prediction, its measurement, and its rank among the sweep's
// trials.
nlohmann::ordered_json ShownSweepToJson(const ShownSweep& shown);
nlohmann::ordered_json EventToJson(const v1::SweepEvent& event);

}  // namespace meshwright::cli
