// Prints a step's MFU: measured beside predicted, as shares of one named peak, and the reason where
// a share is above 1.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "executor/trial/trial.h"
#include "planner/estimate/estimate.h"
#include "planner/spec/cluster_spec.h"
#include "tools/cli/io/table.h"

namespace meshwright::cli {

// Adds rows of three cells to `table`: name, measured, predicted. They are shares of the cluster's
// stated peak, as predictions are. A result without that peak is a share of what its ranks
// measured, to which no prediction is comparable.
void AddUtilisationRows(const trial::TrialResult& result, const planner::Estimate& predicted,
                        Table& table);

// Prints which peak that is, what share of it large products reached on these ranks, and what it
// means when an MFU is above 100 %. `cluster`: whose peak it is.
void PrintPeak(const trial::TrialResult& result, std::string_view cluster, std::ostream& out);

// Returns whose peak it is and the cluster's source for it, for JSON and headers.
std::string PeakSource(const planner::ClusterSpec& cluster);

// Returns one sentence on why a step's MFU is above 1: `mfu` by PaLM's definition, `mfu_causal` by
// Megatron-LM's, both of a rank's `peak_flops`. Empty where neither is.
std::string WhyAboveOne(double mfu, double mfu_causal, double peak_flops);

}  // namespace meshwright::cli
