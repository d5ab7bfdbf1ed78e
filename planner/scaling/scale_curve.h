// Computes a scaling curve: the best layout of a model on one cluster at several numbers of
// devices, and the return of adding devices (Fernandez et al., arXiv 2411.13055).
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

// Whether the batch stays the same (strong) or grows with the devices (weak).
enum class ScalingMode : uint8_t { kStrong, kWeak };

struct ScalePoint {
  int64_t devices = 0;
  int64_t global_batch = 0;
  // The best layout that fits, by the request's objective; not set where there is none, and
  // `problem` then says why.
  std::optional<RankedLayout> best;
  std::string problem;
  Energy energy;
  // Exposed communication, bubble and waiting, as a share of the step.
  double exposed = 0.0;
  // Relative to the last point before it that fits: throughput gained over devices added, both as
  // shares; 1 is perfect scaling. Not set for the first.
  std::optional<double> marginal_return;
  // How the kind of layout differs from that point's: "FSDP -> tp + FSDP"; empty where it does not.
  std::string change;
};

using ScaleProgress = std::function<void(int64_t done, int64_t of, int64_t devices)>;

// Searches each of `sizes`, in ascending order, in place of `request.devices`. Under weak scaling
// the request's global batch is that of the first. InvalidArgument as Search() gives it where it is
// not about one size alone; Cancelled once the request's run says so.
absl::StatusOr<std::vector<ScalePoint>> ScaleCurve(const SearchRequest& request,
                                                   const std::vector<int64_t>& sizes,
                                                   ScalingMode mode,
                                                   const ScaleProgress& progress = {});

// Sets `marginal_return` and `change` of points in the order of their sizes.
void CompareEach(std::vector<ScalePoint>& points);

// Returns the kind of a layout, which is what divides its work: "tp + pp + FSDP".
std::string LayoutKindOf(const Layout& layout);

}  // namespace meshwright::planner
