#include "planner/report/estimate_json.h"

#include "planner/codec/json_codec.h"
#include "planner/report/estimate_fields.h"

namespace meshwright::planner {

using nlohmann::ordered_json;

ordered_json LayoutToJson(const Layout& layout, const Estimate& estimate) {
  return WriteOrderedJson(RankedLayout{layout, estimate});
}

ordered_json FunnelToJson(const Funnel& funnel) { return WriteOrderedJson(funnel); }

}  // namespace meshwright::planner
