// The JSON form of an estimate and of a search, as every command prints it and the store keeps it.
#pragma once

#include "nlohmann/json.hpp"
#include "planner/search/search.h"

namespace meshwright {

// Keys: layout, axes, memory (*_bytes whose sum is total_bytes, fraction_of_device, pipeline_rank),
// time (*_s whose sum is step_s), mfu, mfu_causal, tokens_per_s.
nlohmann::ordered_json LayoutToJson(const Layout& layout, const Estimate& estimate);

// Keys: enumerated, invalid, memory, evaluated, invalid_by_rule (only rules that dropped
// something).
nlohmann::ordered_json FunnelToJson(const Funnel& funnel);

}  // namespace meshwright
