// Converts sweeps, their trials and their events to JSON, by their fields
// (tools/cli/sweep/sweep_fields.h).
#pragma once

#include "meshwright/v1/sweeps.pb.h"
#include "nlohmann/json.hpp"
#include "tools/cli/sweep/sweep_text.h"

namespace meshwright::cli {

nlohmann::ordered_json SweepToJson(const v1::Sweep& sweep);
// The sweep, the request that made it, the peak that its MFUs are shares of, and its trials with
// what is predicted, measured and, of all of them together, compared.
nlohmann::ordered_json ShownSweepToJson(const ShownSweep& shown);
nlohmann::ordered_json EventToJson(const v1::SweepEvent& event);

}  // namespace meshwright::cli
