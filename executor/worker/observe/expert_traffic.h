// ExpertTraffic counts the tokens that a rank sends to experts, and the tokens that the rank's own
// experts receive.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "planner/block/expert_rows.h"

namespace meshwright::worker {

struct ExpertTraffic {
  // The largest number of tokens that this rank's experts received so far from one micro-batch in
  // one layer, divided by an even share.
  double load = 0.0;
  // The number of tokens that each of this rank's experts received so far, over all layers.
  std::vector<int64_t> tokens;
  // The list has one entry for each forward action of the step and each layer with experts, in
  // execution order.
  std::vector<planner::ExpertRows> rows;

  // Adds one layer's forward of a micro-batch. `even_rows` is the number of rows in an even share.
  void Add(const planner::ExpertRows& of_layer, const std::vector<int64_t>& expert_rows,
           int64_t even_rows) {
    load = std::max(load, static_cast<double>(of_layer.routed) / static_cast<double>(even_rows));
    tokens.resize(std::max(tokens.size(), expert_rows.size()));
    for (size_t i = 0; i < expert_rows.size(); ++i) tokens[i] += expert_rows[i];
    rows.push_back(of_layer);
  }
};

}  // namespace meshwright::worker
