#include "planner/search/best_layout.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/amounts.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/layout/layout_condition.h"

namespace meshwright::planner {

absl::StatusOr<SearchRequest> Narrowed(SearchRequest request, std::string_view where) {
  ASSIGN_OR_RETURN(Condition further, ParseLayoutCondition("where", where));
  if (request.where.holds_always()) {
    request.where = std::move(further);
  } else if (!further.holds_always()) {
    request.where = {.form = ConditionForm::kAll,
                     .parts = {std::move(request.where), std::move(further)}};
  }
  return request;
}

bool IsAbout(const absl::Status& status, absl::Span<const std::string_view> fields) {
  return absl::IsInvalidArgument(status) &&
         std::find(fields.begin(), fields.end(), FieldOf(status)) != fields.end();
}

absl::StatusOr<BestLayout> FindBest(SearchRequest request,
                                    absl::Span<const std::string_view> fields) {
  request.top = 1;
  BestLayout found;
  absl::StatusOr<SearchResult> result = Search(request);
  if (!result.ok()) {
    if (!IsAbout(result.status(), fields)) return result.status();
    found.refused = result.status();
    found.problem = std::string(found.refused.message());
  } else if (result->layouts.empty()) {
    found.over_bytes = result->nearest_over_bytes;
    found.problem = absl::StrCat("nothing fits: ", FormatLayout(result->nearest->layout),
                                 " is over by ", Gib(*found.over_bytes));
  } else {
    found.best = result->layouts.front();
  }
  return found;
}

}  // namespace meshwright::planner
