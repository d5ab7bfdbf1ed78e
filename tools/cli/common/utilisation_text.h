// A step's MFU for people: measured beside predicted, as shares of one peak that is said, and the
// reason where a share is above 1.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "executor/trial/trial.h"
#include "planner/estimate/estimate.h"
#include "planner/spec/cluster_spec.h"
#include "tools/cli/io/table.h"

namespace meshwright::cli {

// Adds rows of three cells to `table`: what is told, measured, predicted. They are shares of the
// peak that the cluster is said to have, as predictions are; of a result that does not tell it, of
// what its ranks measured, which no prediction is against.
void AddUtilisationRows(const trial::TrialResult& result, const planner::Estimate& predicted,
                        Table& table);

// Says which peak that is, what share of it large products reached on these ranks, and what it
// means when an MFU is above 100 %. `cluster`: whose peak it is.
void PrintPeak(const trial::TrialResult& result, std::string_view cluster, std::ostream& out);

// Whose peak it is and where the cluster has it from, for JSON and headers.
std::string PeakSource(const planner::ClusterSpec& cluster);

// One sentence on why a step's MFU can be above 1: `mfu` by PaLM's definition, `mfu_causal` by
// Megatron-LM's, both of a rank's `peak_flops`. Empty where neither is.
std::string WhyAboveOne(double mfu, double mfu_causal, double peak_flops);

}  // namespace meshwright::cli
