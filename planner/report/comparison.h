// Compares layouts of one question: what each takes, which wins, and which parts of the step
// decide.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "planner/catalog/plan_query.h"
#include "planner/report/rests_on.h"
#include "planner/report/slower_parts.h"
#include "planner/search/search.h"

namespace meshwright::planner {

struct ComparedLayout {
  std::string layout;  // text form
  // The rule that it breaks, such as "heads_division"; empty where it can run. If set, only
  // `sentence` is set in addition.
  std::string rule;
  std::optional<RankedLayout> estimate;
  bool fits = false;  // under the memory criterion of the question
  // Rank from 1, by step time among the layouts that fit; 0 where it does not fit.
  int64_t place = 0;
  double slower = 0.0;              // its step time over that of the first, less 1
  std::vector<SlowerPart> because;  // why it is slower than the first, largest part first
  std::string sentence;

  friend bool operator==(const ComparedLayout&, const ComparedLayout&) = default;
};

struct CompareAnswer {
  std::vector<ComparedLayout> layouts;  // in the order asked
  int64_t allowed_bytes = 0;            // per device under the memory criterion
  // Layouts whose step times differ by at most this share tie: the estimate can't tell them apart.
  double within = 0.0;
  std::vector<std::string> notes;
  int64_t parameters = 0;  // of the model
  RestsOn rests_on;
  std::string sentence;  // which layout wins and why

  bool any_fits() const;
};

// Compares `layouts`, in text form, 1 to kMostCompared of them. InvalidArgument names a layout that
// can't be read; one that can't run is part of the answer.
inline constexpr size_t kMostCompared = 16;
absl::StatusOr<CompareAnswer> AnswerCompare(const PlanQuery& query,
                                            const std::vector<std::string>& layouts,
                                            int32_t host_cores);

}  // namespace meshwright::planner
