#include "planner/search/search.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
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
    return FieldError(
        "mine", FormatLayout(*request.mine),
        "stands among layouts by their speed, and these are ranked by something else");
  }
  return request.time_limit_s ? CheckPositive("time_limit_s", *request.time_limit_s)
                              : absl::OkStatus();
}

// A space that is too large is refused by its count alone, before it is walked.
absl::Status CheckSize(const SearchRequest& request, const SearchSpace& space) {
  const auto choices = static_cast<int64_t>(std::max<size_t>(1, request.choices.size()));
  if (space.size() <= kMostPoints / choices) return absl::OkStatus();
  const std::string under =
      choices == 1 ? "" : absl::StrFormat(" for each of %d combinations of options", choices);
  return FieldError("gpus", request.devices,
                    absl::StrFormat("the search space has %d layouts%s; must be at most %d: take a "
                                    "number of devices with fewer divisors (such as a power of "
                                    "two), a smaller global batch, or a framework with fewer "
                                    "schedules",
                                    space.size(), under, kMostPoints));
}

// Returns the request with only one of its choices.
SearchRequest WithChoiceAlone(const SearchRequest& request, const OptionChoice& choice) {
  SearchRequest with = request;
  with.training = WithChoice(request.training, choice);
  with.choices = {choice};
  with.mine_options.reset();
  return with;
}

// Returns the rank of the caller's own layout without comparing it with other layouts, if the
// layout's options differ from the options of the points.
std::optional<UserLayoutRank> PlaceMine(const SearchRequest& request, const SearchSpace& space) {
  if (!request.mine || (request.choices.empty() && !request.mine_options)) return std::nullopt;
  SearchRequest of = request;
  if (request.mine_options) of.training = WithChoice(request.training, *request.mine_options);
  return SearchAccumulator(of, space).mine();
}

// Why a walk ended early.
enum class Stop : uint8_t { kNone, kCancelled, kOutOfTime };

// Shares the meshes of a space among threads, once for each choice of options. The calling thread
// is one of them, and the only one that reads the clock and asks whether the caller still waits.
class Walk {
 public:
  Walk(const SearchRequest& request, const SearchSpace& space)
      : request_(request),
        space_(space),
        mine_(PlaceMine(request, space)),
        points_(space.size() * static_cast<int64_t>(std::max<size_t>(1, request.choices.size()))),
        start_s_(request.run.now_s()) {
    parts_.reserve(request.choices.size());
    for (const OptionChoice& choice : request.choices) {
      parts_.push_back(WithChoiceAlone(request, choice));
    }
  }

  // Runs the search under all choices and returns the merged results, which refer to the walk.
  std::unique_ptr<SearchAccumulator> Run() {
    // Before any thread starts: a walk that may not begin sees nothing, however fast the others
    // are.
    Look();
    if (parts_.empty()) return RunPart(request_, 0);
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
  std::unique_ptr<SearchAccumulator> RunPart(const SearchRequest& part, PointOrder first_order) {
    const auto make = [&] {
      return std::make_unique<SearchAccumulator>(part, space_, first_order, mine_);
    };
    next_mesh_ = 0;
    std::vector<std::unique_ptr<SearchAccumulator>> others;
    std::vector<std::thread> threads;
    for (int32_t thread = 1; thread < request_.run.threads; ++thread) others.push_back(make());
    busy_ = others.size();
    threads.reserve(others.size());
    for (const std::unique_ptr<SearchAccumulator>& other : others) {
      threads.emplace_back([this, &selection = *other] {
        VisitMeshes(selection, [this] { return stop_.load(std::memory_order_relaxed); });
        const std::lock_guard<std::mutex> lock(mutex_);
        if (--busy_ == 0) all_done_.notify_one();
      });
    }
    std::unique_ptr<SearchAccumulator> selection = make();
    VisitMeshes(*selection, [this] { return Look(); });
    AwaitOthers();
    for (std::thread& thread : threads) thread.join();
    for (const std::unique_ptr<SearchAccumulator>& other : others) {
      selection->Merge(std::move(*other));
    }
    return selection;
  }

  // `look()` returns whether to stop.
  template <typename StopNow>
  void VisitMeshes(SearchAccumulator& selection, const StopNow& look) {
    const auto goes_on = [&](int64_t points) {
      seen_.fetch_add(points, std::memory_order_relaxed);
      return look() == Stop::kNone;
    };
    if (look() != Stop::kNone) return;
    for (size_t mesh = next_mesh_++; mesh < space_.meshes(); mesh = next_mesh_++) {
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
  const SearchSpace& space_;
  const std::optional<UserLayoutRank> mine_;  // if every point is to be compared with it
  std::vector<SearchRequest> parts_;          // one for each choice
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
  const SearchSpace space(request.model, request.devices, request.training.global_batch,
                          request.profile, request.offloads);
  RETURN_IF_ERROR(CheckSize(request, space));
  Walk walk(request, space);
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
