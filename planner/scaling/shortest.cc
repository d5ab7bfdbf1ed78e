#include "planner/scaling/shortest.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/search/best_layout.h"

namespace meshwright::planner {
namespace {

// The smallest share of the network's bandwidth that is tried, and the precision of the answer.
constexpr double kLeastNetwork = 1.0 / 64.0;
constexpr double kShareStep = 1.02;

// The smallest and the largest batch that are tried, divided by the critical batch.
constexpr double kSmallestBatch = 1.0 / 64.0;
constexpr double kLargestBatch = 4.0;
constexpr double kMostBatch = 1 << 22;  // kLargestBatch times it can still be trained
constexpr double kMostTokens = 1e30;

const char* WhereOf(Strategy strategy) {
  switch (strategy) {
    case Strategy::kContiguous:
      return "vpp = 1 and schedule != breadth_first";
    case Strategy::kStandard:
      return "schedule != breadth_first";
    case Strategy::kLayered:
      break;
  }
  return "schedule = breadth_first";
}

absl::StatusOr<SearchRequest> SearchOf(const ShortestRequest& request, Strategy strategy) {
  ASSIGN_OR_RETURN(SearchRequest search, Narrowed(request.search, WhereOf(strategy)));
  search.profile.communication.data_parallel_overlap = request.overlap;
  Supports& has = search.profile.supports;
  has.has_breadth_first = strategy == Strategy::kLayered;
  if (strategy == Strategy::kLayered) {
    has.layered_accumulation = true;
    has.zero23_with_pipeline = true;
  }
  return search;
}

// A size without valid layouts, or a batch that it can't divide, says nothing about others.
constexpr std::array<std::string_view, 4> kAboutTheBatch = {"gpus", "global_batch", "where",
                                                            "framework"};

// The searches of one strategy.
class StrategySearch {
 public:
  StrategySearch(SearchRequest search, const CriticalBatch& critical)
      : search_(std::move(search)),
        critical_(critical),
        bandwidth_(search_.cluster.scale_out.bytes_per_s) {}

  // Returns the shortest run over the batches.
  absl::StatusOr<SizedRun> At(int64_t devices, const std::vector<int64_t>& batches) {
    SizedRun shortest;
    for (const int64_t batch : batches) {
      ASSIGN_OR_RETURN(SizedRun run, With(devices, batch));
      const bool is_shorter = run.best && run.seconds < shortest.seconds;
      if (is_shorter || !shortest.best) shortest = std::move(run);
    }
    return shortest;
  }

  // Returns the time with that run's devices and batch where the network has this share of its
  // bandwidth.
  absl::StatusOr<double> SecondsOnNetwork(const SizedRun& run, double share) {
    search_.cluster.scale_out.bytes_per_s = bandwidth_ * share;
    absl::StatusOr<SizedRun> slower = With(run.devices, run.global_batch);
    search_.cluster.scale_out.bytes_per_s = bandwidth_;
    RETURN_IF_ERROR(slower.status());
    return slower->seconds;
  }

  double bandwidth() const { return bandwidth_; }
  // Returns whether any search had a valid layout.
  bool any_valid() const { return any_valid_; }
  const absl::Status& refused() const { return refused_; }

 private:
  absl::StatusOr<SizedRun> With(int64_t devices, int64_t batch) {
    search_.devices = devices;
    search_.training.global_batch = batch;
    ASSIGN_OR_RETURN(BestLayout found, FindBest(search_, kAboutTheBatch));
    SizedRun run = {.devices = devices,
                    .global_batch = batch,
                    .best = found.best,
                    .problem = std::move(found.problem)};
    if (found.refused.ok()) {
      any_valid_ = true;
    } else {
      refused_ = found.refused;
    }
    if (!run.best) return run;
    run.seconds = critical_.TokensWith(batch) / run.best->estimate.tokens_per_s;
    return run;
  }

  SearchRequest search_;
  const CriticalBatch critical_;
  const double bandwidth_;
  bool any_valid_ = false;
  absl::Status refused_;
};

// Returns the smallest share of the network's bandwidth at which the run is at most kNearShortest
// longer; 0 if the smallest that is tried suffices. Bisects, since a slower network makes no
// layout faster.
absl::StatusOr<double> LeastNetworkShare(StrategySearch& search, const SizedRun& run) {
  const double most_s = run.seconds * (1.0 + kNearShortest);
  ASSIGN_OR_RETURN(const double least_s, search.SecondsOnNetwork(run, kLeastNetwork));
  if (least_s <= most_s) return 0.0;
  double low = kLeastNetwork;
  double high = 1.0;
  while (high / low > kShareStep) {
    const double share = std::sqrt(low * high);
    ASSIGN_OR_RETURN(const double seconds, search.SecondsOnNetwork(run, share));
    (seconds <= most_s ? high : low) = share;
  }
  return high;
}

absl::Status MeasureNetwork(StrategySearch& search, SizedRun& run) {
  ASSIGN_OR_RETURN(const double share, LeastNetworkShare(search, run));
  run.network_bytes_per_s = share * search.bandwidth();
  ASSIGN_OR_RETURN(const double slow_s, search.SecondsOnNetwork(run, kSlowNetwork));
  run.slow_network_factor = slow_s / run.seconds;
  return absl::OkStatus();
}

absl::Status Validate(const ShortestRequest& request) {
  if (!(request.critical.tokens > 0.0 && request.critical.tokens < kMostTokens)) {
    return FieldError("tokens", absl::StrCat(request.critical.tokens),
                      "must be above 0 and below 1e30");
  }
  if (!(request.critical.batch >= 1.0 && request.critical.batch <= kMostBatch)) {
    return FieldError("critical_batch", absl::StrCat(request.critical.batch),
                      "must be from 1 to 4194304 sequences");
  }
  if (request.overlap >= 0.0 && request.overlap <= 1.0) return absl::OkStatus();
  return FieldError("overlap", absl::StrCat(request.overlap), "must be a share from 0 to 1");
}

}  // namespace

std::vector<int64_t> BatchesAround(double critical_batch) {
  const double least = std::max(1.0, kSmallestBatch * critical_batch);
  const double most = std::max(1.0, kLargestBatch * critical_batch);
  std::vector<int64_t> batches;
  for (int64_t power = 1; static_cast<double>(power) <= most; power *= 2) {
    for (const int64_t batch : {power, power + power / 2}) {
      const auto size = static_cast<double>(batch);
      if (size >= least && size <= most && (batches.empty() || batches.back() < batch)) {
        batches.push_back(batch);
      }
    }
  }
  return batches;
}

std::vector<int64_t> BatchesFor(int64_t devices, double critical_batch) {
  int64_t odd = devices;
  while (odd % 2 == 0) odd /= 2;
  std::vector<int64_t> batches = BatchesAround(critical_batch);
  const size_t around = batches.size();
  for (size_t i = 0; i < around && odd > 1; ++i) {
    batches.push_back(std::max(odd, (batches[i] + odd / 2) / odd * odd));
  }
  std::sort(batches.begin(), batches.end());
  batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
  return batches;
}

absl::StatusOr<std::vector<ShortestRun>> ShortestRuns(const ShortestRequest& request,
                                                      const ShortestProgress& progress) {
  RETURN_IF_ERROR(Validate(request));
  const auto of = static_cast<int64_t>(kStrategyNames.size() * request.sizes.size());
  int64_t done = 0;
  bool any_valid = false;
  absl::Status refused;
  std::vector<ShortestRun> strategies;
  for (const auto& [strategy, name] : kStrategyNames) {
    ASSIGN_OR_RETURN(SearchRequest for_strategy, SearchOf(request, strategy));
    StrategySearch search(std::move(for_strategy), request.critical);
    ShortestRun shortest = {.strategy = strategy, .runs = {}, .shortest = std::nullopt};
    for (const int64_t devices : request.sizes) {
      if (progress) progress(done++, of, devices);
      ASSIGN_OR_RETURN(SizedRun run,
                       search.At(devices, BatchesFor(devices, request.critical.batch)));
      if (run.best) RETURN_IF_ERROR(MeasureNetwork(search, run));
      const SizedRun* before = shortest.Shortest();
      if (run.best && (before == nullptr || run.seconds < before->seconds)) {
        shortest.shortest = static_cast<int64_t>(shortest.runs.size());
      }
      shortest.runs.push_back(std::move(run));
    }
    any_valid = any_valid || search.any_valid();
    if (!search.refused().ok()) refused = search.refused();
    strategies.push_back(std::move(shortest));
  }
  if (!any_valid && !refused.ok()) return refused;
  return strategies;
}

}  // namespace meshwright::planner
