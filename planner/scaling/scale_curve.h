// Computes a scaling curve: the best layout of a model on one cluster at several numbers of
// devices, and how much throughput additional devices gain (Fernandez et al., arXiv 2411.13055).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/estimate/power.h"
#include "planner/search/search.h"

namespace meshwright::planner {

// Strong scaling keeps the batch; weak scaling lets it grow with the number of devices.
enum class ScalingMode : uint8_t { kStrong, kWeak };

struct ScalePoint {
  int64_t devices = 0;
  int64_t global_batch = 0;
  // The best layout that fits, by the request's objective. If there is none, it is not set and
  // `problem` says why.
  std::optional<RankedLayout> best;
  std::string problem;
  Energy energy;
  // Exposed communication, bubble and waiting, as a share of the step.
  double exposed = 0.0;
  // The relative gain in throughput since the previous point that fits, divided by the relative
  // gain in devices. The value 1 means perfect scaling. Not set for the first point that fits.
  std::optional<double> marginal_return;
  // The change of the layout's kind since the previous point that fits, such as "FSDP -> tp +
  // FSDP". Empty if the kind is the same.
  std::string change;
};

// Called before each search: `done` of `of` sizes are finished, and the next has `devices` devices.
using ScaleProgress = std::function<void(int64_t done, int64_t of, int64_t devices)>;

// Searches once for each of `sizes`, which are numbers of devices in ascending order and replace
// `request.devices`. Under weak scaling, the request's global batch is that of the first size. If
// Search() fails because of one size or its batch, its error becomes the point's `problem`. Every
// other error is returned unchanged. Returns Cancelled if the request is cancelled.
absl::StatusOr<std::vector<ScalePoint>> ScaleCurve(const SearchRequest& request,
                                                   const std::vector<int64_t>& sizes,
                                                   ScalingMode mode,
                                                   const ScaleProgress& progress = {});

// Sets `marginal_return` and `change` of all points.
// REQUIRES: points in ascending order of devices.
void CompareEach(std::vector<ScalePoint>& points);

// Returns the layout's kind: the axes over which it divides the work, such as "tp + pp + FSDP", or
// "one device".
std::string LayoutKindOf(const Layout& layout);

}  // namespace meshwright::planner
