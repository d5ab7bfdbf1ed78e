#include "server/services/drawn_answer.h"

#include <utility>

#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/drawing/answers_svg.h"
#include "planner/report/question_text.h"
#include "server/services/plan_questions.h"

namespace meshwright::server {

absl::StatusOr<std::string> DrawAnswer(const v1::DrawRequest& request, int32_t host_cores,
                                       const planner::SearchRun& run, absl::Time now) {
  const auto origin = [&](std::string question) {
    return OriginOf(std::move(question), "Draw", request, now);
  };
  switch (request.question_case()) {
    case v1::DrawRequest::kCompare: {
      ASSIGN_OR_RETURN(const planner::PlanQuery query, QueryOf(request.compare(), host_cores));
      ASSIGN_OR_RETURN(
          const planner::CompareAnswer answer,
          planner::AnswerCompare(
              query, {request.compare().layouts().begin(), request.compare().layouts().end()},
              host_cores));
      return planner::ComparisonSvg(answer, origin(planner::QuestionText(query)));
    }
    case v1::DrawRequest::kScale: {
      ASSIGN_OR_RETURN(const planner::ScaleQuery query, QueryOf(request.scale(), host_cores));
      ASSIGN_OR_RETURN(const planner::ScaleAnswer answer,
                       planner::AnswerScale(query, host_cores, run));
      return planner::ScaleSvg(answer, origin(planner::QuestionText(query)));
    }
    case v1::DrawRequest::kStudy: {
      ASSIGN_OR_RETURN(const planner::PlanQuery query, QueryOf(request.study(), host_cores));
      ASSIGN_OR_RETURN(const planner::StudyAnswer answer,
                       planner::AnswerStudy(query, host_cores, run));
      return planner::StudySvg(answer, origin(planner::QuestionText(query)));
    }
    case v1::DrawRequest::kFastest: {
      ASSIGN_OR_RETURN(const planner::FastestQuery query, QueryOf(request.fastest(), host_cores));
      ASSIGN_OR_RETURN(const planner::FastestAnswer answer,
                       planner::AnswerFastest(query, host_cores, run));
      return planner::FastestSvg(answer, origin(planner::QuestionText(query)));
    }
    case v1::DrawRequest::kFit: {
      ASSIGN_OR_RETURN(const planner::PlanQuery query, QueryOf(request.fit(), host_cores));
      ASSIGN_OR_RETURN(const planner::FitAnswer answer,
                       planner::AnswerFit(query, request.fit().layout(), host_cores, run));
      return planner::FitSvg(answer, origin(planner::QuestionText(query)));
    }
    case v1::DrawRequest::QUESTION_NOT_SET:
      break;
  }
  return FieldError("question", "", "must be one of compare, scale, study, fastest and fit");
}

}  // namespace meshwright::server
