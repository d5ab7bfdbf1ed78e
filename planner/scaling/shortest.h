// Finds the shortest time in which a model trains on a cluster, over numbers of devices and
// batches, by how micro-batches pass the layers (Lamy-Poirier, arXiv 2106.02679).
//
// To keep more devices busy takes a larger batch, and a larger batch needs more tokens for the same
// loss, so a run has a shortest time, whatever the number of devices. How far a batch can be
// divided, and with which pipelines, decides where that time is.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/text/enum_names.h"
#include "planner/search/search.h"

namespace meshwright::planner {

// How micro-batches pass the layers.
enum class Strategy : uint8_t {
  // One stage of consecutive layers per pipeline rank.
  kContiguous,
  // Every schedule that the framework has but breadth-first; includes interleaved stages.
  kStandard,
  // Breadth-first with layered gradient accumulation: all micro-batches pass a chunk before the
  // next one, whatever the framework has, and ZeRO gathers and reduces each chunk once. A chunk of
  // one layer is the paper's modular pipeline.
  kLayered,
};
inline constexpr EnumNames<Strategy, 3> kStrategyNames = {{
    {Strategy::kContiguous, "contiguous"},
    {Strategy::kStandard, "standard"},
    {Strategy::kLayered, "layered"},
}};

// The cost of a batch in tokens: E(B) = E_min (1 + B / B_c), of McCandlish et al. (arXiv
// 1812.06162) as Lamy-Poirier uses it.
struct CriticalBatch {
  double tokens = 0.0;  // E_min: tokens of a run in the smallest batches, for the same loss
  double batch = 0.0;   // B_c, sequences: at this batch twice the tokens, twice the fewest steps

  double TokensWith(int64_t global_batch) const {
    return tokens * (1.0 + static_cast<double>(global_batch) / batch);
  }
};

struct ShortestRequest {
  SearchRequest search;  // its devices and batch are ignored
  std::vector<int64_t> sizes;
  CriticalBatch critical;
  // The largest share of data-parallel communication that compute hides, in place of the profile's
  // figure, the same for every strategy. The paper takes 1.
  double overlap = 1.0;
};

// The shortest run on one number of devices.
struct SizedRun {
  int64_t devices = 0;
  int64_t global_batch = 0;
  std::optional<RankedLayout> best;  // not set where nothing fits; `problem` then says why
  std::string problem;
  double seconds = 0.0;  // of the whole run
  // The bandwidth between nodes, in bytes per second and device, one way, with which a run of these
  // devices and this batch, in any layout, is at most kNearShortest longer; 0 where the smallest
  // that was tried suffices.
  double network_bytes_per_s = 0.0;
  // With these devices and this batch: the time on the slow network over that on the cluster's.
  double slow_network_factor = 1.0;
};

// The share by which a run's time may grow on the slowest network that is fast enough.
inline constexpr double kNearShortest = 0.05;
// The slow network's share of the cluster's bandwidth between nodes.
inline constexpr double kSlowNetwork = 0.25;

struct ShortestRun {
  Strategy strategy = Strategy::kContiguous;
  std::vector<SizedRun> runs;       // one for each size
  std::optional<int64_t> shortest;  // index into `runs`; not set where nothing fits

  const SizedRun* Shortest() const {
    return shortest ? &runs[static_cast<size_t>(*shortest)] : nullptr;
  }
};

// Returns batches around the critical one: powers of two and three times those, from a 64th of the
// critical one to four times it.
std::vector<int64_t> BatchesAround(double critical_batch);

// Returns the same, and for each the nearest multiple of the odd part of the number of devices,
// which pipelines and replicas of such numbers need.
std::vector<int64_t> BatchesFor(int64_t devices, double critical_batch);

using ShortestProgress = std::function<void(int64_t done, int64_t of, int64_t devices)>;

// Returns the shortest run of each strategy. InvalidArgument where the critical batch, its tokens
// or the overlap is out of range, and as Search() gives it where it is not about one size or batch
// alone; Cancelled once the request's run says so.
absl::StatusOr<std::vector<ShortestRun>> ShortestRuns(const ShortestRequest& request,
                                                      const ShortestProgress& progress = {});

}  // namespace meshwright::planner
