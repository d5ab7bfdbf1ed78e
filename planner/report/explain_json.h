// The JSON form of an explanation, whose keys are added to the estimate's.
#pragma once

#include "nlohmann/json.hpp"
#include "planner/report/explain.h"

namespace meshwright::planner {

// Adds to `object`: stages (entries like `memory`, by pipeline rank), binding {memory_part,
// memory_bytes, time_part, time_s, sentence} and smallest_change (null where the layout fits or no
// neighbour does, else {layout, changes, total_bytes, step_s}) with neighbours_tried.
void AddExplanation(const RankedLayout& ranked, const Explanation& explanation,
                    nlohmann::ordered_json& object);

}  // namespace meshwright::planner
