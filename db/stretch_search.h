// StretchSearch runs a search over many rows in stretches, which are consecutive parts of the
// search's order. If the first stretch does not fill the answer, several threads search the others.
//
// Callers may rely on: the answer does not depend on the number of threads. With one thread, or
// while other searches use all helper threads, the caller's thread searches alone. All functions
// may be called from any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "db/measurement.h"

namespace meshwright::db {

class StretchSearch {
 public:
  // Each search runs on its caller's thread. All searches share `threads` - 1 helper threads.
  explicit StretchSearch(int32_t threads) : idle_helpers_(std::max(0, threads - 1)) {}

  // Returns the matching places of a query, in the query's order. Several threads call this
  // function simultaneously.
  using Find =
      absl::FunctionRef<absl::StatusOr<std::vector<MeasurementPlace>>(const MeasurementQuery&)>;

  // Returns the first `limit` places of consecutive stretches, or an error of `find`. Begins no
  // further stretch once the answer has `limit` places.
  absl::StatusOr<std::vector<MeasurementPlace>> Run(const std::vector<MeasurementQuery>& stretches,
                                                    int32_t limit, Find find);

 private:
  int32_t TakeHelpers(int32_t most);
  void GiveBack(int32_t helpers);

  absl::Mutex mutex_;
  int32_t idle_helpers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace meshwright::db
