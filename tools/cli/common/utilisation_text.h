// AddUtilisationRows() and PrintPeak() print a step's measured MFU beside the predicted MFU, as
// shares of one named peak.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "executor/trial/trial.h"
#include "planner/estimate/estimate.h"
#include "planner/spec/cluster_spec.h"
#include "tools/cli/io/table.h"

namespace meshwright::cli {

// Adds a row for each definition of MFU to `table`: the definition's name, the measured and the
// predicted MFU. Both values are shares of the cluster's stated peak. If the result does not record
// that peak, the measured MFU is a share of the peak that the trial's ranks measured, and no
// prediction is shown, since the two would not be comparable.
void AddUtilisationRows(const trial::TrialResult& result, const planner::Estimate& predicted,
                        Table& table);

// Prints the peak of which an MFU is a share, and what share of that peak large matmuls reached on
// these ranks. If an MFU is above 100 %, prints why. `cluster` is the name of the cluster that
// states the peak.
void PrintPeak(const trial::TrialResult& result, std::string_view cluster, std::ostream& out);

// Returns the name of the cluster that states the peak, and the cluster's source for it.
std::string PeakSource(const planner::ClusterSpec& cluster);

// Returns one sentence on why a step's MFU is above 1; empty if it is not. `mfu` follows PaLM's
// definition and `mfu_causal` Megatron-LM's. Both are shares of `peak_flops`, a rank's peak.
std::string WhyAboveOne(double mfu, double mfu_causal, double peak_flops);

}  // namespace meshwright::cli
