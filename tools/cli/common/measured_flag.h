// MeasuredFlag holds --measured: runs that the user measured. Each value is a run in words, a file
// of runs, or the name of a server's trial.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "planner/catalog/plan_query.h"
#include "tools/cli/common/context.h"
#include "tools/cli/common/server_flags.h"

namespace meshwright::cli {

struct MeasuredFlag {
  std::vector<std::string> values;

  void Add(CLI::App& app);

  // Returns the texts of PlanQuery::measured. A value that names a file stands for the runs in it:
  // one text a line, or the rows of a measurement file that are runs of `query`. A value
  // sweeps/S/trials/N stands for the result of this trial on `server`. Returns InvalidArgument,
  // which names `measured`, for a value that can't be read.
  absl::StatusOr<std::vector<std::string>> ToTexts(const planner::PlanQuery& query,
                                                   const ServerFlags& server,
                                                   CommandContext& context) const;
};

}  // namespace meshwright::cli
