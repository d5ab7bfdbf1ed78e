// Computes the answer of `meshwright fit`: how large a micro-batch, a sequence and a model may be
// before nothing fits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/catalog/plan_query.h"
#include "planner/report/rests_on.h"
#include "planner/scaling/limits.h"

namespace meshwright::planner {

struct FitAnswer {
  std::vector<Limit> limits;           // in the order of kLimitKindNames
  int64_t allowed_bytes = 0;           // bytes per device that the query's memory criterion allows
  std::vector<std::string> sentences;  // one for each limit
  std::vector<std::string> notes;
  int64_t parameters = 0;  // parameters of the model in the query
  RestsOn rests_on;

  bool any_fits() const;
};

// Returns the amount in words, such as "sequences of 14,336 tokens".
std::string AmountText(LimitKind kind, int64_t value);

// Finds how large the problem may be for `layout`, given in text form, or for the layouts of a
// search if `layout` is empty. Returns InvalidArgument if `layout` can't be read, or if the query
// sets `where` or `offload` in addition to a layout, because both apply only to searches. Returns
// every error of Resolve() and FindLimits() as it is.
absl::StatusOr<FitAnswer> AnswerFit(const PlanQuery& query, std::string_view layout,
                                    int32_t host_cores, SearchRun run = {});

}  // namespace meshwright::planner
