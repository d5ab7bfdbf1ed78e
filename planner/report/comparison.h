// Layouts of one question side by side: what each takes, which wins, and which parts decide it.
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
  // The rule that it breaks, such as "heads_division"; empty where it can run. Only `sentence` is
  // set beside it.
  std::string rule;
  std::optional<RankedLayout> estimate;
  bool fits = false;  // under the memory criterion of the question
  // From 1, by the time of a step among those that fit; 0 where it does not fit.
  int64_t place = 0;
  double slower = 0.0;              // its step over that of the first, less 1
  std::vector<SlowerPart> because;  // against the first, largest first
  std::string sentence;

  friend bool operator==(const ComparedLayout&, const ComparedLayout&) = default;
};

struct CompareAnswer {
  std::vector<ComparedLayout> layouts;  // in the order asked
  int64_t allowed_bytes = 0;            // per device under the memory criterion
  // Those whose steps differ by at most this share tie: the estimate can't tell them apart.
  double within = 0.0;
  std::vector<std::string> notes;
  int64_t parameters = 0;  // of the model
  RestsOn rests_on;
  std::string sentence;  // which wins and why, in words

  bool any_fits() const;
};

// `layouts` in text form, at least one, at most kMostCompared. InvalidArgument names the one that
// can't be read; one that can't run is part of the answer.
inline constexpr size_t kMostCompared = 16;
absl::StatusOr<CompareAnswer> AnswerCompare(const PlanQuery& query,
                                            const std::vector<std::string>& layouts,
                                            int32_t host_cores);

}  // namespace meshwright::planner
