// PrintSweep() prints a sweep and its trials as text. tools/cli/sweep/sweep_json.h has the JSON
// form.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "executor/trial/trial.h"
#include "meshwright/v1/sweeps.pb.h"
#include "planner/search/search.h"
#include "planner/spec/cluster_spec.h"
#include "tools/cli/common/text_style.h"
#include "tools/cli/common/wire_text.h"
#include "tools/cli/sweep/sweep_ranking.h"

namespace meshwright::cli {

// A measured step, in terms that are comparable within a sweep.
struct ComparedStep {
  StepSpread step;
  StepRank rank;  // among the sweep's
  // Both are shares of the peak that the sweep's predictions use, whichever agent ran the trial.
  double mfu = 0.0;         // PaLM definition
  double mfu_causal = 0.0;  // Megatron-LM definition
};

// A trial with its prediction and measurement in the planner's and executor's own terms.
struct TrialView {
  v1::Trial trial;
  std::optional<planner::RankedLayout> predicted = {};  // nullopt if it can't be read
  std::optional<trial::TrialResult> measured = {};
  std::optional<ComparedStep> compared = {};  // of a trial that succeeded
  std::string unreadable = {};                // what can't be read, and why; may be empty
};

// Returns the view of a trial. `compared` is nullopt, since it needs the whole sweep.
TrialView ViewOf(const v1::Trial& trial);

struct ShownSweep {
  v1::Sweep sweep;
  planner::ClusterSpec cluster;  // for which it was planned
  double peak_flops = 0.0;       // of one of its ranks
  std::vector<TrialView> trials;
};

// Returns the sweep with its trials, and sets `compared` of each trial. Returns InvalidArgument if
// the sweep's cluster_json can't be read. REQUIRES: `sweep` has cluster_json.
absl::StatusOr<ShownSweep> ViewOf(const v1::Sweep& sweep, std::vector<TrialView> trials);

// Returns the largest number of bytes that the tensors of any rank held simultaneously; 0 if none
// was measured.
int64_t PeakBytes(const trial::TrialResult& result);

// Returns "llama-3-8b on 64 x h100, sequence 8,192, global batch 128, bf16".
std::string SweepQuestion(const v1::Sweep& sweep);
std::string StateName(v1::SweepState state);
std::string StateName(v1::TrialState state);
// Returns the last part of a trial's resource name.
std::string NumberOf(const std::string& trial);
std::string FirstLine(const std::string& text);
// Returns "3 ok, 5 cancelled".
std::string TrialCountsText(const v1::Sweep& sweep);
// Returns a sentence that names the sweeps whose results correct the plan's estimates. REQUIRES:
// there are such results.
std::string CorrectedBy(const v1::SweepPlan& plan);

void PrintSweeps(const std::vector<v1::Sweep>& sweeps, std::ostream& out);
// Prints the fastest measured layout, the sweep's state, and its trials with measured beside
// predicted values. With details, also prints intervals, MFU and the funnel.
void PrintSweep(const ShownSweep& shown, const TextStyle& style, std::ostream& out);

}  // namespace meshwright::cli
