// Where a rank's tokens went to experts, and how many its own experts took.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "planner/block/expert_rows.h"

namespace meshwright::worker {

struct ExpertTraffic {
  // The most tokens that this rank's experts took of a micro-batch so far, over an even share.
  double load = 0.0;
  // That each of this rank's experts took so far, of all layers.
  std::vector<int64_t> tokens;
  // Of each forward action of the step and each layer with experts in it, as they ran.
  std::vector<planner::ExpertRows> rows;

  // Takes in one layer's forward of a micro-batch, of which `even_rows` would be an even share.
  void Add(const planner::ExpertRows& of_layer, const std::vector<int64_t>& expert_rows,
           int64_t even_rows) {
    load = std::max(load, static_cast<double>(of_layer.routed) / static_cast<double>(even_rows));
    tokens.resize(std::max(tokens.size(), expert_rows.size()));
    for (size_t i = 0; i < expert_rows.size(); ++i) tokens[i] += expert_rows[i];
    rows.push_back(of_layer);
  }
};

}  // namespace meshwright::worker
