// Shows sweeps and their trials, for people and as JSON.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "executor/trial/trial.h"
#include "meshwright/v1/sweeps.pb.h"
#include "nlohmann/json.hpp"
#include "planner/search/search.h"
#include "planner/spec/cluster_spec.h"
#include "tools/cli/common/wire_text.h"
#include "tools/cli/sweep/sweep_ranking.h"

namespace meshwright::cli {

// A measured step, in terms that are comparable within a sweep.
struct ComparedStep {
  StepSpread step;
  StepRank rank;  // among the sweep's
  // Shares of the one peak that the sweep's predictions are against, whichever agent ran it.
  double mfu = 0.0;         // PaLM definition
  double mfu_causal = 0.0;  // Megatron-LM definition
};

// A trial with its prediction and measurement in the planner's and executor's own terms.
struct TrialView {
  v1::Trial trial;
  std::optional<planner::RankedLayout> predicted = {};  // nullopt where it can't be read
  std::optional<trial::TrialResult> measured = {};
  std::optional<ComparedStep> compared = {};  // of a trial that succeeded
  std::string unreadable = {};                // what can't be read, and why; empty where all can
};

// Sets everything but `compared`, which needs the whole sweep.
TrialView ViewOf(const v1::Trial& trial);

struct ShownSweep {
  v1::Sweep sweep;
  planner::ClusterSpec cluster;  // that it was planned for
  double peak_flops = 0.0;       // of one of its ranks
  std::vector<TrialView> trials;
};

// Requires sweep.cluster_json. InvalidArgument where that can't be read.
absl::StatusOr<ShownSweep> ViewOf(const v1::Sweep& sweep, std::vector<TrialView> trials);

// Returns the largest number of bytes that the tensors of any rank held at once; 0 where none was
// measured.
int64_t PeakBytes(const trial::TrialResult& result);

std::string StateName(v1::SweepState state);
std::string StateName(v1::TrialState state);
// Returns the last part of a trial's resource name.
std::string NumberOf(const std::string& trial);
std::string FirstLine(const std::string& text);
// Returns "3 ok, 5 cancelled".
std::string TrialCountsText(const v1::Sweep& sweep);

// Keys: name, state, reason, model, cluster, cluster_hash, profile, profile_hash, gpus,
// device_kind, seq_len, global_batch, dtype, steps, seed, memory_limit_bytes (null without one),
// candidates, max_trials and min_gain (null where the sweep chooses nothing), trials, trials_ended,
// trials_reused, trials_by_state (counts by name), rerun_of (name or null), planner_version,
// create_time, end_time (null before), last_sequence, funnel.
nlohmann::ordered_json SweepToJson(const v1::Sweep& sweep);
// Keys: sweep (as SweepToJson), request (that made it; null where it was not kept), peak_flops (of
// a rank, which every MFU of the sweep is a share of), peak_source, trials (shortest measured step
// first), and of each trial: trial, layout, requested, reused_from (the trial whose result it has;
// null for none), state, reason, attempt, agent, host, end_time (null until it has ended, and of
// one that had no attempt), seed, rank, rank_shared (not told apart from another), step_s,
// step_low_s, step_high_s (95 % interval of the median), mfu, mfu_causal, mfu_note (why one is
// above 1), predicted (an entry of `layouts[]`), measured (what `meshwright trial` measures),
// unreadable (what of them can't be read). Missing values are null.
nlohmann::ordered_json ShownSweepToJson(const ShownSweep& shown);
// Keys: sequence, time, sweep, trial (null for the sweep itself), attempt, kind, message, data.
nlohmann::ordered_json EventToJson(const v1::SweepEvent& event);

void PrintSweeps(const std::vector<v1::Sweep>& sweeps, std::ostream& out);
// Prints the sweep, its funnel, and its trials with measured beside predicted.
void PrintSweep(const ShownSweep& shown, std::ostream& out);

}  // namespace meshwright::cli
