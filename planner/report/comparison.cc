#include "planner/report/comparison.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/text/amounts.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/block/parameters.h"
#include "planner/catalog/typed_layout.h"
#include "planner/estimate/step_interval.h"
#include "planner/report/answers.h"

namespace meshwright::planner {
namespace {

double StepOf(const ComparedLayout& compared) { return compared.estimate->estimate.time.step_s(); }

absl::StatusOr<ComparedLayout> Compared(const SearchRequest& request, const std::string& text) {
  ASSIGN_OR_RETURN(const TypedLayout typed,
                   ReadTypedLayout(text, request.model, request.profile, request.devices));
  const Layout& layout = typed.layout;
  ComparedLayout compared;
  compared.layout = FormatLayout(layout);
  const EstimateContext context = ContextOf(request);
  if (const auto violation = CheckLayout(context, request.devices, layout)) {
    compared.rule = std::string(RuleName(violation->rule));
    compared.sentence =
        absl::StrCat("can't run: ", Describe(*violation), " (rule ", compared.rule, ")");
    return compared;
  }
  compared.estimate = RankedLayout{layout, EstimateLayout(context, layout)};
  compared.fits = compared.estimate->estimate.memory.total_bytes() <= AllowedBytes(request);
  return compared;
}

// Returns the fastest that fits; null if none does.
const ComparedLayout* First(const std::vector<ComparedLayout>& layouts) {
  const ComparedLayout* first = nullptr;
  for (const ComparedLayout& layout : layouts) {
    if (layout.fits && (first == nullptr || StepOf(layout) < StepOf(*first))) first = &layout;
  }
  return first;
}

std::string OverSentence(const ComparedLayout& layout, const CompareAnswer& answer,
                         const std::string& criterion) {
  const Estimate& estimate = layout.estimate->estimate;
  return absl::StrCat(
      "over ", criterion, " by ", Gib(estimate.memory.total_bytes() - answer.allowed_bytes),
      " (probability of running out of memory ", Percent(estimate.oom_probability), ")");
}

std::string AgainstFirst(const ComparedLayout& layout, double within) {
  if (layout.slower < 0.0) {
    return absl::StrCat("it would be ", Percent(-layout.slower), " faster than the first");
  }
  const std::string tie =
      layout.slower <= within ? "; that is a tie: the estimate can't tell such steps apart" : "";
  return absl::StrCat(Percent(layout.slower), " slower than the first", Reasons(layout.because),
                      tie);
}

void Place(CompareAnswer& answer, const std::string& criterion) {
  const ComparedLayout* first = First(answer.layouts);
  for (ComparedLayout& layout : answer.layouts) {
    if (!layout.estimate) continue;
    if (first != nullptr && first != &layout) {
      layout.slower = StepOf(layout) / StepOf(*first) - 1.0;
      layout.because = SlowerParts(layout.estimate->estimate.time, first->estimate->estimate.time);
    }
    if (layout.fits) {
      layout.place = 1 + std::count_if(answer.layouts.begin(), answer.layouts.end(),
                                       [&layout](const ComparedLayout& other) {
                                         return other.fits && StepOf(other) < StepOf(layout);
                                       });
    }
    if (&layout == first) {
      layout.sentence =
          absl::StrCat("the fastest that fits: a step takes ", Seconds(StepOf(layout)));
    } else if (layout.fits) {
      layout.sentence = AgainstFirst(layout, answer.within);
    } else {
      layout.sentence = OverSentence(layout, answer, criterion);
      if (first != nullptr) {
        absl::StrAppend(&layout.sentence, "; with more memory ",
                        AgainstFirst(layout, answer.within));
      }
    }
  }
}

// Returns a sentence about the winner and its lead over the next one that fits.
std::string WhichWins(const CompareAnswer& answer) {
  const ComparedLayout* first = First(answer.layouts);
  if (first == nullptr) return "None of them fits.";
  const std::string wins =
      absl::StrCat(first->layout, " wins with ", Seconds(StepOf(*first)), " a step");
  const ComparedLayout* second = nullptr;
  for (const ComparedLayout& layout : answer.layouts) {
    if (!layout.fits || &layout == first) continue;
    if (second == nullptr || layout.slower < second->slower) second = &layout;
  }
  if (second == nullptr) return absl::StrCat(wins, ", the only one that fits.");
  if (second->slower == 0.0) return absl::StrCat(wins, ", as fast as the next.");
  return absl::StrCat(wins, ": the next, ", second->layout, ", is ",
                      AgainstFirst(*second, answer.within), ".");
}

}  // namespace

bool CompareAnswer::any_fits() const {
  return std::any_of(layouts.begin(), layouts.end(),
                     [](const ComparedLayout& layout) { return layout.fits; });
}

absl::StatusOr<CompareAnswer> AnswerCompare(const PlanQuery& query,
                                            const std::vector<std::string>& layouts,
                                            int32_t host_cores) {
  RETURN_IF_ERROR(CheckRange("layouts", static_cast<int64_t>(layouts.size()), 1,
                             static_cast<int64_t>(kMostCompared)));
  ASSIGN_OR_RETURN(const SearchRequest request, Resolve(query, host_cores));
  RETURN_IF_ERROR(ValidateProblem(request));
  CompareAnswer answer;
  answer.allowed_bytes = AllowedBytes(request);
  answer.device_bytes = request.cluster.device.memory_bytes;
  answer.within = StepSpread(request.cluster, request.profile) - 1.0;
  answer.notes = NotesOn(query, request);
  answer.parameters = Parameters(request.model);
  answer.rests_on = RestsOnOf(query, request);
  for (const std::string& text : layouts) {
    ASSIGN_OR_RETURN(ComparedLayout compared, Compared(request, text));
    answer.layouts.push_back(std::move(compared));
  }
  Place(answer, MemoryCriterion(query));
  answer.sentence = WhichWins(answer);
  return answer;
}

}  // namespace meshwright::planner
