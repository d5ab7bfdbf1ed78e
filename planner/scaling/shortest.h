// Finds the shortest time in which a model can be trained on a cluster, over numbers of devices and
// batches. A strategy is a way in which micro-batches pass through the layers. Each strategy has
// its own shortest time (Lamy-Poirier, arXiv 2106.02679).
//
// More devices need a larger batch to be busy, and a larger batch needs more tokens for the same
// loss. A run therefore has a shortest time, however many devices there are. This time depends on
// how finely layouts can divide a batch, and on which pipelines they can use.
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

// The way in which micro-batches pass through the layers.
enum class Strategy : uint8_t {
  // One stage of consecutive layers per pipeline rank.
  kContiguous,
  // Every schedule of the framework except breadth-first, interleaved stages included.
  kStandard,
  // Breadth-first with layered gradient accumulation, even if the framework has neither. All
  // micro-batches pass through a chunk before the next chunk begins, so ZeRO gathers and reduces
  // each chunk only once. With chunks of one layer this is the paper's modular pipeline.
  kLayered,
};
inline constexpr EnumNames<Strategy, 3> kStrategyNames = {{
    {Strategy::kContiguous, "contiguous"},
    {Strategy::kStandard, "standard"},
    {Strategy::kLayered, "layered"},
}};

// The number of tokens that a run with batches of B sequences takes to reach the same loss: E(B) =
// E_min (1 + B / B_c), of McCandlish et al. (arXiv 1812.06162) as Lamy-Poirier uses it.
struct CriticalBatch {
  double tokens = 0.0;  // E_min, the tokens of a run with the smallest batches
  // B_c in sequences. A run with this batch takes twice the minimum number of tokens and twice the
  // minimum number of steps.
  double batch = 0.0;

  double TokensWith(int64_t global_batch) const {
    return tokens * (1.0 + static_cast<double>(global_batch) / batch);
  }
};

struct ShortestRequest {
  SearchRequest search;  // its devices and batch are ignored
  std::vector<int64_t> sizes;
  CriticalBatch critical;
  // The largest share of data-parallel communication that compute hides. This share replaces the
  // profile's figure for every strategy. The paper assumes 1.
  double overlap = 1.0;
};

// The shortest run on one number of devices.
struct SizedRun {
  int64_t devices = 0;
  int64_t global_batch = 0;
  std::optional<RankedLayout> best;  // not set if nothing fits; `problem` then says why
  std::string problem;
  double seconds = 0.0;  // duration of the whole run
  // The least bandwidth between nodes, in bytes per second per device and one way, with which the
  // run is at most kNearShortest longer. The run keeps these devices and this batch, but may have
  // another layout. 0 if the smallest bandwidth that was tried suffices.
  double network_bytes_per_s = 0.0;
  // The time of the run on the slow network (kSlowNetwork) divided by its time on the cluster's own
  // network, with these devices and this batch.
  double slow_network_factor = 1.0;
};

// A network is fast enough if it makes a run longer by at most this share.
inline constexpr double kNearShortest = 0.05;
// The slow network's share of the cluster's bandwidth between nodes.
inline constexpr double kSlowNetwork = 0.25;

struct ShortestRun {
  Strategy strategy = Strategy::kContiguous;
  std::vector<SizedRun> runs;       // one for each size
  std::optional<int64_t> shortest;  // index into `runs`; not set if nothing fits

  // Returns null if nothing fits.
  const SizedRun* Shortest() const {
    return shortest ? &runs[static_cast<size_t>(*shortest)] : nullptr;
  }
};

// Returns batches around the critical batch: powers of two and three times powers of two, from a
// 64th of the critical batch to four times it.
std::vector<int64_t> BatchesAround(double critical_batch);

// Returns BatchesAround() and, for each of its batches, the nearest multiple of the largest odd
// divisor of `devices`. Such a multiple can be divided evenly over numbers of pipelines and
// replicas that have that odd divisor.
std::vector<int64_t> BatchesFor(int64_t devices, double critical_batch);

// Called before each size of each strategy: `done` of `of` searches are finished, and the next has
// `devices` devices.
using ShortestProgress = std::function<void(int64_t done, int64_t of, int64_t devices)>;

// Returns the shortest run of each strategy. Returns InvalidArgument if the critical batch, its
// tokens or the overlap is out of range. If Search() fails because of one size or batch, the error
// becomes that run's `problem`. If no search has a valid layout, the error is returned. Every other
// error is returned unchanged. Returns Cancelled once the request's run is cancelled.
absl::StatusOr<std::vector<ShortestRun>> ShortestRuns(const ShortestRequest& request,
                                                      const ShortestProgress& progress = {});

}  // namespace meshwright::planner
