#include "planner/report/replay_report.h"

#include "planner/codec/json_codec.h"
#include "planner/report/replay_fields.h"

namespace meshwright::planner {

nlohmann::ordered_json ReplayToJson(absl::Span<const SweepReplay> sweeps, bool with_relatives) {
  ReplayText report{.with_relatives = with_relatives, .sweeps = {}, .total = TotalOf(sweeps)};
  for (const SweepReplay& sweep : sweeps) report.sweeps.push_back({sweep, with_relatives});
  return WriteOrderedJson(report);
}

}  // namespace meshwright::planner
