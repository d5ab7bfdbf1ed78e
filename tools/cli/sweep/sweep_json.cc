#include "tools/cli/sweep/sweep_json.h"

#include <optional>
#include <utility>

#include "base/text/json_text.h"
#include "executor/wire/event_details.h"
#include "planner/codec/json_codec.h"
#include "tools/cli/sweep/sweep_fields.h"

namespace meshwright::cli {

using nlohmann::ordered_json;

ordered_json SweepToJson(const v1::Sweep& sweep) {
  return planner::WriteOrderedJson(SweepText{sweep});
}

namespace {

// As it was sent; nothing if the server did not keep it.
std::optional<planner::WrittenJson<AnyObject>> SentRequest(const v1::Sweep& sweep) {
  absl::StatusOr<ordered_json> request = ParseOrderedJson("request", sweep.request_json());
  if (!request.ok() || request->is_null()) return std::nullopt;
  return planner::WrittenJson<AnyObject>{*std::move(request)};
}

}  // namespace

ordered_json ShownSweepToJson(const ShownSweep& shown) {
  ShownSweepText text{.sweep = {shown.sweep},
                      .request = SentRequest(shown.sweep),
                      .peak_flops = shown.peak_flops,
                      .peak_source = PeakSource(shown.cluster),
                      .trials = {}};
  for (const TrialView& view : shown.trials) text.trials.push_back({view, shown.peak_flops});
  return planner::WriteOrderedJson(text);
}

ordered_json EventToJson(const v1::SweepEvent& event) {
  EventText text{event, std::nullopt};
  ordered_json data = ordered_json(ToJson(wire::DetailsOf(event)));
  if (!data.is_null()) text.data = planner::WrittenJson<AnyObject>{std::move(data)};
  return planner::WriteOrderedJson(text);
}

}  // namespace meshwright::cli
