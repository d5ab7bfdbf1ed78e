#include "planner/report/study_report.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"
#include "planner/block/parameters.h"
#include "planner/estimate/step_interval.h"
#include "planner/report/answers.h"

namespace meshwright::planner {
namespace {

int64_t CountOf(const StudyAnswer& answer, Verdict verdict) {
  return std::count_if(answer.ablations.begin(), answer.ablations.end(),
                       [verdict](const Ablation& one) { return one.verdict == verdict; });
}

std::string Summary(const StudyAnswer& answer) {
  return absl::StrCat(CountOf(answer, Verdict::kHolds), " of ", answer.ablations.size(),
                      " recommendations hold, ", CountOf(answer, Verdict::kTies),
                      " make less of a difference than the estimate can tell, ",
                      CountOf(answer, Verdict::kDoesNotHold), " do not hold, ",
                      CountOf(answer, Verdict::kOpen), " can't be decided here.");
}

}  // namespace

bool StudyAnswer::any_fits() const {
  return std::any_of(ablations.begin(), ablations.end(), [](const Ablation& ablation) {
    return ablation.Fastest(true) != nullptr || ablation.Fastest(false) != nullptr;
  });
}

absl::StatusOr<StudyAnswer> AnswerStudy(const PlanQuery& query, int32_t host_cores, SearchRun run,
                                        const StudyProgress& progress) {
  ASSIGN_OR_RETURN(SearchRequest request, Resolve(query, host_cores));
  request.run = std::move(run);
  StudyAnswer answer;
  answer.within = StepSpread(request.cluster, request.profile) - 1.0;
  ASSIGN_OR_RETURN(answer.ablations, Study(request, answer.within, progress));
  answer.notes = NotesOn(query, request);
  answer.parameters = Parameters(request.model);
  answer.rests_on = RestsOnOf(query, request);
  answer.sentence = Summary(answer);
  return answer;
}

}  // namespace meshwright::planner
