#include "db/stretch_search.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "base/text/status_macros.h"

namespace meshwright::db {
namespace {

using Places = std::vector<MeasurementPlace>;

// The stretches of one search, each taken by one thread.
class Stretches {
 public:
  Stretches(const std::vector<MeasurementQuery>& queries, int32_t limit, StretchSearch::Find find)
      : queries_(queries),
        limit_(static_cast<size_t>(limit)),
        find_(find),
        found_(queries.size()) {}

  // Takes one stretch after another, `most` at most, while any is wanted.
  void Search(size_t most) {
    for (size_t taken = 0; taken < most; ++taken) {
      const std::optional<size_t> stretch = Take();
      if (!stretch) return;
      absl::StatusOr<Places> places = find_(queries_[*stretch]);
      const absl::MutexLock lock(&mutex_);
      if (places.ok()) {
        found_[*stretch] = *std::move(places);
      } else {
        error_.Update(places.status());
      }
    }
  }

  int32_t wanted() const {
    const absl::MutexLock lock(&mutex_);
    return IsOver() ? 0 : static_cast<int32_t>(queries_.size() - next_);
  }

  absl::StatusOr<Places> Join() {
    const absl::MutexLock lock(&mutex_);
    RETURN_IF_ERROR(error_);
    Places all;
    for (const Places& places : found_) all.insert(all.end(), places.begin(), places.end());
    if (all.size() > limit_) all.resize(limit_);
    return all;
  }

 private:
  std::optional<size_t> Take() {
    const absl::MutexLock lock(&mutex_);
    if (IsOver()) return std::nullopt;
    return next_++;
  }

  // Everything found so far precedes the stretches that were not begun.
  bool IsOver() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    size_t found = 0;
    for (const Places& places : found_) found += places.size();
    return next_ == queries_.size() || found >= limit_ || !error_.ok();
  }

  const std::vector<MeasurementQuery>& queries_;
  const size_t limit_;
  const StretchSearch::Find find_;
  mutable absl::Mutex mutex_;
  size_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<Places> found_ ABSL_GUARDED_BY(mutex_);  // of each stretch
  absl::Status error_ ABSL_GUARDED_BY(mutex_);         // the first one
};

}  // namespace

int32_t StretchSearch::TakeHelpers(int32_t most) {
  const absl::MutexLock lock(&mutex_);
  const int32_t helpers = std::min(most, idle_helpers_);
  idle_helpers_ -= helpers;
  return helpers;
}

void StretchSearch::GiveBack(int32_t helpers) {
  const absl::MutexLock lock(&mutex_);
  idle_helpers_ += helpers;
}

absl::StatusOr<Places> StretchSearch::Run(const std::vector<MeasurementQuery>& queries,
                                          int32_t limit, Find find) {
  Stretches stretches(queries, limit, find);
  stretches.Search(/*most=*/1);
  const int32_t helpers = TakeHelpers(std::max(0, stretches.wanted() - 1));
  std::vector<std::thread> threads;
  threads.reserve(static_cast<size_t>(helpers));
  for (int32_t i = 0; i < helpers; ++i) {
    try {
      threads.emplace_back([&] { stretches.Search(queries.size()); });
    } catch (const std::system_error&) {
      break;  // the process can't start more threads: the existing ones do the search
    }
  }
  stretches.Search(queries.size());
  for (std::thread& thread : threads) thread.join();
  GiveBack(helpers);
  return stretches.Join();
}

}  // namespace meshwright::db
