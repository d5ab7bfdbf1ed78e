#include "planner/search/search.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/rules/refusal.h"
#include "planner/search/search_accumulator.h"
#include "planner/search/space.h"

namespace meshwright::planner {

absl::Status ValidateProblem(const SearchRequest& request) {
  RETURN_IF_ERROR(Validate(request.model));
  RETURN_IF_ERROR(Validate(request.cluster));
  RETURN_IF_ERROR(Validate(request.training));
  RETURN_IF_ERROR(Validate(request.profile));
  if (request.max_oom_probability) {
    RETURN_IF_ERROR(CheckShare("max_oom_probability", *request.max_oom_probability));
  }
  return CheckRange("gpus", request.devices, 1, 1 << 20);
}

namespace {

absl::Status ValidateRequest(const SearchRequest& request) {
  RETURN_IF_ERROR(ValidateProblem(request));
  RETURN_IF_ERROR(CheckRange("top", request.top, 1, kMostLayouts));
  RETURN_IF_ERROR(CheckRange("threads", request.run.threads, 1, kMostThreads));
  if (MeritOf(request.objective) == Merit::kEnergy) {
    RETURN_IF_ERROR(CheckPower("objective", request.cluster));
  }
  if (std::find(request.pareto.begin(), request.pareto.end(), Merit::kEnergy) !=
      request.pareto.end()) {
    RETURN_IF_ERROR(CheckPower("pareto", request.cluster));
  }
  if (request.mine && MeritOf(request.objective) != Merit::kSpeed) {
    return FieldError("mine", FormatLayout(*request.mine),
                      "can be placed only among layouts that are ranked by speed; must be left out "
                      "with this objective");
  }
  return request.time_limit_s ? CheckPositive("time_limit_s", *request.time_limit_s)
                              : absl::OkStatus();
}

SearchSpace SpaceOf(const SearchRequest& request) {
  return SearchSpace(request.model, request.devices, request.training.global_batch, request.profile,
                     request.offloads);
}

// Returns the request with only the choice of this index.
SearchRequest WithChoiceAlone(const SearchRequest& request, size_t index) {
  const OptionChoice& choice = request.choices[index];
  SearchRequest with = request;
  with.training = WithChoice(request.training, choice);
  if (index < request.choice_profiles.size() && request.choice_profiles[index] != nullptr) {
    with.profile = *request.choice_profiles[index];
  }
  with.choices = {choice};
  with.choice_profiles.clear();
  with.mine_options.reset();
  with.mine_profile = nullptr;
  return with;
}

// Returns the rank of the caller's own layout without comparing it with other layouts, if the
// layout's options differ from the options of the points.
std::optional<UserLayoutRank> PlaceMine(const SearchRequest& request) {
  if (!request.mine || (request.choices.empty() && !request.mine_options)) return std::nullopt;
  SearchRequest of = request;
  if (request.mine_options) of.training = WithChoice(request.training, *request.mine_options);
  if (request.mine_profile != nullptr) of.profile = *request.mine_profile;
  const SearchSpace space = SpaceOf(of);
  return SearchAccumulator(of, space).mine();
}

// A request with at most one choice of options, and its space.
struct Part {
  explicit Part(SearchRequest of) : request(std::move(of)), space(SpaceOf(request)) {}

  SearchRequest request;
  SearchSpace space;
};

// Returns a part for each choice of options, or one if there is no choice.
std::deque<Part> PartsOf(const SearchRequest& request) {
  std::deque<Part> parts;
  if (request.choices.empty()) parts.emplace_back(request);
  for (size_t i = 0; i < request.choices.size(); ++i) {
    parts.emplace_back(WithChoiceAlone(request, i));
  }
  return parts;
}

int64_t PointsOf(const std::deque<Part>& parts) {
  int64_t points = 0;
  for (const Part& part : parts) points += part.space.size();
  return points;
}

// A space that is too large is refused by its count alone, before it is walked.
absl::Status CheckSize(const SearchRequest& request, const std::deque<Part>& parts) {
  if (PointsOf(parts) <= kMostPoints) return absl::OkStatus();
  const std::string under =
      parts.size() == 1 ? ""
                        : absl::StrFormat(" for each of %d combinations of options", parts.size());
  return FieldError("gpus", request.devices,
                    absl::StrFormat("the search space has %d layouts%s; must be at most %d: take a "
                                    "number of devices with fewer divisors (such as a power of "
                                    "two), a smaller global batch, or a framework with fewer "
                                    "schedules",
                                    parts.front().space.size(), under, kMostPoints));
}

// Why a walk ended early.
enum class Stop : uint8_t { kNone, kCancelled, kOutOfTime };

// Shares the meshes of a space among threads, for each choice of options. The calling thread
// is one of them, and the only one that reads the clock and asks whether the caller still waits.
class Walk {
 public:
  Walk(const SearchRequest& request, const std::deque<Part>& parts)
      : request_(request),
        mine_(PlaceMine(request)),
        parts_(parts),
        points_(PointsOf(parts_)),
        start_s_(request.run.now_s()) {}

  // Runs the search under all choices and returns the merged results, which refer to the walk.
  std::unique_ptr<SearchAccumulator> Run() {
    // Before any thread starts: a walk that may not begin sees nothing, however fast the others
    // are.
    Look();
    std::unique_ptr<SearchAccumulator> selection;
    for (size_t part = 0; part < parts_.size(); ++part) {
      std::unique_ptr<SearchAccumulator> found =
          RunPart(parts_[part], PointOrder{part} << kChoiceOrderBits);
      if (selection == nullptr) {
        selection = std::move(found);
      } else {
        selection->Merge(std::move(*found));
      }
    }
    return selection;
  }

  Stop stop() const { return stop_.load(); }
  SearchProgress progress() const { return {.seen = seen_.load(), .of = points_}; }

 private:
  // Pause between two looks of the calling thread once it has nothing left to visit.
  static constexpr std::chrono::milliseconds kNap{5};

  // Runs the search under one choice on all threads and returns the merged results.
  std::unique_ptr<SearchAccumulator> RunPart(const Part& part, PointOrder first_order) {
    const auto make = [&] {
      return std::make_unique<SearchAccumulator>(part.request, part.space, first_order, mine_);
    };
    next_mesh_ = 0;
    std::vector<std::unique_ptr<SearchAccumulator>> others;
    std::vector<std::thread> threads;
    for (int32_t thread = 1; thread < request_.run.threads; ++thread) others.push_back(make());
    busy_ = others.size();
    threads.reserve(others.size());
    for (const std::unique_ptr<SearchAccumulator>& other : others) {
      threads.emplace_back([this, &part, &selection = *other] {
        VisitMeshes(part, selection, [this] { return stop_.load(std::memory_order_relaxed); });
        const std::lock_guard<std::mutex> lock(mutex_);
        if (--busy_ == 0) all_done_.notify_one();
      });
    }
    std::unique_ptr<SearchAccumulator> selection = make();
    VisitMeshes(part, *selection, [this] { return Look(); });
    AwaitOthers();
    for (std::thread& thread : threads) thread.join();
    for (const std::unique_ptr<SearchAccumulator>& other : others) {
      selection->Merge(std::move(*other));
    }
    return selection;
  }

  // `look()` returns whether to stop.
  template <typename StopNow>
  void VisitMeshes(const Part& part, SearchAccumulator& selection, const StopNow& look) {
    const auto goes_on = [&](int64_t points) {
      seen_.fetch_add(points, std::memory_order_relaxed);
      return look() == Stop::kNone;
    };
    if (look() != Stop::kNone) return;
    for (size_t mesh = next_mesh_++; mesh < part.space.meshes(); mesh = next_mesh_++) {
      if (!selection.VisitMesh(mesh, goes_on)) return;
    }
  }

  void AwaitOthers() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!all_done_.wait_for(lock, kNap, [this] { return busy_ == 0; })) Look();
  }

  Stop Look() {
    const SearchRun& run = request_.run;
    const Stop before = stop_.load();
    if (before != Stop::kNone) return before;
    if (run.cancelled && run.cancelled()) {
      stop_.store(Stop::kCancelled);
    } else if (request_.time_limit_s && run.now_s() - start_s_ >= *request_.time_limit_s) {
      stop_.store(Stop::kOutOfTime);
    }
    if (run.progress) run.progress(progress());
    return stop_.load();
  }

  const SearchRequest& request_;
  const std::optional<UserLayoutRank> mine_;  // if every point is to be compared with it
  const std::deque<Part>& parts_;
  const int64_t points_;
  const double start_s_;
  std::atomic<size_t> next_mesh_{0};
  std::atomic<int64_t> seen_{0};
  std::atomic<Stop> stop_{Stop::kNone};
  std::mutex mutex_;
  std::condition_variable all_done_;
  size_t busy_ = 0;  // threads other than the calling one; guarded by mutex_
};

// Returns the results that a search had when it was stopped.
std::string SeenText(const SearchProgress& progress, const SearchAccumulator& selection) {
  const Funnel& funnel = selection.funnel();
  std::string text = absl::StrCat(progress.seen, " of ", progress.of, " layouts were seen, ",
                                  funnel.left_out + funnel.memory + funnel.evaluated,
                                  " of them can run, ", funnel.evaluated, " fit");
  if (const RankedLayout* best = selection.best()) {
    absl::StrAppend(&text, "; the best so far is ", FormatLayout(best->layout),
                    best->options.empty() ? "" : " " + OptionWords(best->options),
                    absl::StrFormat(" with an MFU of %.1f %%", 100.0 * best->estimate.mfu));
  }
  return text;
}

}  // namespace

absl::StatusOr<SearchResult> Search(const SearchRequest& request) {
  RETURN_IF_ERROR(ValidateRequest(request));
  const std::deque<Part> parts = PartsOf(request);
  RETURN_IF_ERROR(CheckSize(request, parts));
  Walk walk(request, parts);
  const std::unique_ptr<SearchAccumulator> found = walk.Run();
  SearchAccumulator& selection = *found;
  const SearchProgress progress = walk.progress();
  if (walk.stop() == Stop::kCancelled) {
    return absl::CancelledError(
        absl::StrCat("the search was cancelled: ", SeenText(progress, selection)));
  }
  const bool partial = walk.stop() == Stop::kOutOfTime;
  if (partial && selection.funnel().memory + selection.funnel().evaluated == 0) {
    return absl::DeadlineExceededError(
        absl::StrCat("the time limit of ", *request.time_limit_s,
                     " s ended the search: ", SeenText(progress, selection)));
  }
  ASSIGN_OR_RETURN(SearchResult result, selection.Take());
  if (partial) result.partial = progress;
  return result;
}

absl::StatusOr<Estimate> CheckAndEstimate(const SearchRequest& request, const Layout& layout) {
  RETURN_IF_ERROR(ValidateProblem(request));
  const EstimateContext context = ContextOf(request);
  if (const auto violation = CheckLayout(context, request.devices, layout)) {
    return RefusalOf(request.model, request.profile, layout, *violation);
  }
  return EstimateLayout(context, layout);
}

}  // namespace meshwright::planner
