// RunScale() shows how much throughput more devices gain, for `meshwright scale` and for
// `meshwright recommend` with a range of numbers of devices.
#pragma once

#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "planner/report/scale_report.h"
#include "tools/cli/common/context.h"
#include "tools/cli/common/flags.h"

namespace meshwright::cli {

// BudgetFlags holds --tokens, --within and --price.
struct BudgetFlags {
  std::string tokens;
  std::string within;
  std::string price;

  void Add(CLI::App& app);
  absl::StatusOr<planner::Budget> ToBudget() const;
};

// Runs the query and prints the answer.
absl::Status RunScale(const planner::ScaleQuery& query, const OutputFlags& output,
                      const OutputFile& plot, bool exit_zero, CommandContext& context);

}  // namespace meshwright::cli
