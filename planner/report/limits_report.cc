#include "planner/report/limits_report.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/amounts.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/block/parameters.h"
#include "planner/catalog/typed_layout.h"
#include "planner/layout/layout.h"
#include "planner/report/answers.h"

namespace meshwright::planner {

std::string AmountText(LimitKind kind, int64_t value) {
  switch (kind) {
    case LimitKind::kMicroBatch:
      return absl::StrCat("micro-batches of ", Grouped(value),
                          value == 1 ? " sequence" : " sequences");
    case LimitKind::kSequence:
      return absl::StrCat("sequences of ", Grouped(value), " tokens");
    case LimitKind::kDepth:
      break;
  }
  return absl::StrCat(Grouped(value), value == 1 ? " layer" : " layers");
}

namespace {

std::string WhyNotNext(const Limit& limit) {
  if (!limit.next) return limit.problem.empty() ? "nothing larger was looked at" : limit.problem;
  std::string text = AmountText(limit.kind, *limit.next);
  if (limit.over_bytes) {
    absl::StrAppend(&text, *limit.next == 1 && limit.kind == LimitKind::kDepth ? " is" : " are",
                    " over by ", Gib(*limit.over_bytes), " or more");
  } else {
    absl::StrAppend(&text, " can't run: ", limit.problem);
  }
  return text;
}

std::string SentenceOf(const Limit& limit) {
  if (!limit.largest) return absl::StrCat("Nothing fits: ", WhyNotNext(limit), ".");
  std::string text = absl::StrCat("Up to ", AmountText(limit.kind, *limit.largest));
  if (limit.kind == LimitKind::kDepth) {
    absl::StrAppendFormat(&text, " (%.1f B parameters)",
                          static_cast<double>(limit.parameters) / 1e9);
  }
  return absl::StrCat(text, " fit, with ", FormatLayout(limit.best->layout), "; ",
                      WhyNotNext(limit), ".");
}

}  // namespace

bool FitAnswer::any_fits() const {
  return std::any_of(limits.begin(), limits.end(),
                     [](const Limit& limit) { return limit.largest.has_value(); });
}

absl::StatusOr<FitAnswer> AnswerFit(const PlanQuery& query, std::string_view layout,
                                    int32_t host_cores, SearchRun run) {
  ASSIGN_OR_RETURN(SearchRequest request, Resolve(query, host_cores));
  request.run = std::move(run);
  std::optional<Layout> one;
  if (!layout.empty()) {
    if (!query.where.empty()) {
      return FieldError("where", query.where,
                        "applies to a search; must be left out with a layout");
    }
    if (!query.offload.empty()) {
      return FieldError("offload", query.offload,
                        "applies to a search; must be left out, as the layout itself has offload=");
    }
    ASSIGN_OR_RETURN(const TypedLayout typed,
                     ReadTypedLayout(layout, request.model, request.profile, request.devices));
    one = typed.layout;
  }
  FitAnswer answer;
  ASSIGN_OR_RETURN(answer.limits, FindLimits(request, one));
  for (const Limit& limit : answer.limits) answer.sentences.push_back(SentenceOf(limit));
  answer.allowed_bytes = AllowedBytes(request);
  answer.notes = NotesOn(query, request);
  answer.parameters = Parameters(request.model);
  answer.rests_on = RestsOnOf(query, request);
  return answer;
}

}  // namespace meshwright::planner
