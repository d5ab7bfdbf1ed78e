#include "planner/scaling/scale_curve.h"

#include <array>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"
#include "planner/layout/keys.h"
#include "planner/search/best_layout.h"

namespace meshwright::planner {
namespace {

// A size that has no valid layout, or a batch that it can't divide, gives a point without a layout;
// any other error concerns every size.
constexpr std::array<std::string_view, 2> kAboutOneSize = {"gpus", "global_batch"};

absl::StatusOr<ScalePoint> PointAt(const SearchRequest& request) {
  ASSIGN_OR_RETURN(BestLayout found, FindBest(request, kAboutOneSize));
  ScalePoint point;
  point.devices = request.devices;
  point.global_batch = request.training.global_batch;
  point.best = found.best;
  point.problem = std::move(found.problem);
  if (!point.best) return point;
  const Estimate& estimate = point.best->estimate;
  point.energy = EnergyOf(request.cluster, request.devices, estimate.time, estimate.tokens_per_s);
  point.exposed = TimeIn(DeviceState::kExposed, estimate.time) / estimate.time.step_s();
  return point;
}

void CompareWith(const ScalePoint& before, ScalePoint& point) {
  const double gained =
      point.best->estimate.tokens_per_s / before.best->estimate.tokens_per_s - 1.0;
  const double added =
      static_cast<double>(point.devices) / static_cast<double>(before.devices) - 1.0;
  point.marginal_return = gained / added;
  const std::string was = LayoutKindOf(before.best->layout);
  const std::string is = LayoutKindOf(point.best->layout);
  if (was != is) point.change = absl::StrCat(was, " -> ", is);
}

}  // namespace

std::string LayoutKindOf(const Layout& layout) {
  std::string kind;
  const auto add = [&kind](std::string_view name, bool divides) {
    if (divides) absl::StrAppend(&kind, kind.empty() ? "" : " + ", std::string(name));
  };
  for (const LayoutKey& key : kLayoutKeys) {
    if (key.role && key.role != GroupRole::kData) add(key.name, key.number(layout) > 1);
  }
  const char* replicas = layout.zero == 3 ? (layout.shard_ranks > 0 ? "HSDP" : "FSDP") : "dp";
  add(replicas, layout.dp > 1);
  return kind.empty() ? "one device" : kind;
}

void CompareEach(std::vector<ScalePoint>& points) {
  const ScalePoint* before = nullptr;
  for (ScalePoint& point : points) {
    point.marginal_return.reset();
    point.change.clear();
    if (!point.best) continue;
    if (before != nullptr) CompareWith(*before, point);
    before = &point;
  }
}

absl::StatusOr<std::vector<ScalePoint>> ScaleCurve(const SearchRequest& request,
                                                   const std::vector<int64_t>& sizes,
                                                   ScalingMode mode,
                                                   const ScaleProgress& progress) {
  std::vector<ScalePoint> points;
  SearchRequest at = request;
  for (const int64_t devices : sizes) {
    if (progress) {
      progress(static_cast<int64_t>(points.size()), static_cast<int64_t>(sizes.size()), devices);
    }
    at.devices = devices;
    if (mode == ScalingMode::kWeak) {
      at.training.global_batch = request.training.global_batch * devices / sizes.front();
    }
    ASSIGN_OR_RETURN(ScalePoint point, PointAt(at));
    points.push_back(std::move(point));
  }
  CompareEach(points);
  return points;
}

}  // namespace meshwright::planner
