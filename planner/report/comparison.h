// Compares layouts for one query: the memory and time of each layout, which layout is the
// fastest, and which parts of the step make the difference.
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
  // The rule that the layout breaks, such as "heads_division"; empty if it can run. If the rule is
  // set, no other field but `layout` and `sentence` is set.
  std::string rule;
  std::optional<RankedLayout> estimate;
  bool fits = false;  // whether it fits under the query's memory criterion
  // Rank from 1, by step time among the layouts that fit; 0 if this one does not fit.
  int64_t place = 0;
  // Step time / step time of the fastest layout that fits, minus 1.
  double slower = 0.0;
  std::vector<SlowerPart> because;  // why it is slower than the fastest, largest part first
  std::string sentence;

  friend bool operator==(const ComparedLayout&, const ComparedLayout&) = default;
};

struct CompareAnswer {
  std::vector<ComparedLayout> layouts;  // in the order of the request
  int64_t allowed_bytes = 0;            // bytes per device that the memory criterion allows
  int64_t device_bytes = 0;             // memory of a device
  // If the step times of two layouts differ by at most this share, they tie: the estimate can't
  // tell them apart.
  double within = 0.0;
  std::vector<std::string> notes;
  int64_t parameters = 0;  // parameters of the model
  RestsOn rests_on;
  std::string sentence;  // names the fastest layout and the reasons

  bool any_fits() const;
};

// The most layouts that AnswerCompare() takes.
inline constexpr size_t kMostCompared = 16;
// Compares `layouts`, given in text form. Returns InvalidArgument if there are none or more than
// kMostCompared, or if one can't be read. A layout that can't run is part of the answer.
absl::StatusOr<CompareAnswer> AnswerCompare(const PlanQuery& query,
                                            const std::vector<std::string>& layouts,
                                            int32_t host_cores);

}  // namespace meshwright::planner
