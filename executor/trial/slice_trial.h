// A slice trial: one rank of each distinct pipeline stage of a layout, run alone and one after the
// other on one device, so that it answers for a layout of thousands.
//
// A slice computes with the real shapes and its own schedule list. Its collectives are not carried
// out; they are charged what the cost model says for the cluster, and the schedule's simulator puts
// the stages together (planner/cost/measured_step.h). The result says which part was measured and
// which was modelled.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "executor/trial/trial.h"
#include "executor/trial/trial_runner.h"
#include "nlohmann/json.hpp"
#include "planner/cost/measured_step.h"
#include "planner/profile/context.h"

namespace meshwright {

// What was measured of one pipeline rank.
struct SliceStage {
  int32_t pipeline_rank = 0;
  std::vector<int32_t> stands_for;    // pipeline ranks with the same layers, itself included
  std::vector<MeasuredStage> chunks;  // medians over micro-batches
  double optimizer_s = 0.0;
  int64_t peak_bytes = 0;
  int64_t estimated_bytes = 0;
};

struct SliceResult {
  Outcome outcome = Outcome::kFailed;
  std::string message;
  std::vector<SliceStage> stages;
  double measured_peak_flops = 0.0;  // FLOP/s of the device, of a large matmul
  ComposedStep step;
  double mfu = 0.0;  // PaLM definition, against measured_peak_flops on every device
  std::string worker_version;
  std::string host;
};

// Pipeline ranks whose chunks hold the same layers, each list in ascending order.
std::vector<std::vector<int32_t>> DistinctPipelineRanks(const ModelSpec& model,
                                                        const Layout& layout);

// `plan` is that of the whole layout, `context` what its communication is modelled with. As
// RunTrial(), always returns a typed outcome: that of the first slice that did not end well.
SliceResult RunSliceTrial(const TrialPlan& plan, const EstimateContext& context,
                          const TrialRunnerOptions& options);

nlohmann::ordered_json ToJson(const SliceResult& result);

}  // namespace meshwright
