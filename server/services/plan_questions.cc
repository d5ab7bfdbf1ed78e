#include "server/services/plan_questions.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "executor/wire/wire.h"
#include "google/protobuf/util/json_util.h"
#include "server/calls/plan_request.h"

namespace meshwright::server {

absl::StatusOr<planner::PlanQuery> QueryOf(const v1::CompareRequest& request, int32_t host_cores) {
  return ReadPlan(request.plan(), kDefaultFramework, host_cores);
}

absl::StatusOr<planner::ScaleQuery> QueryOf(const v1::ScaleRequest& request, int32_t host_cores) {
  planner::ScaleQuery query;
  ASSIGN_OR_RETURN(query.plan, ReadPlan(request.plan(), kDefaultFramework, host_cores));
  wire::ReadScale(request, query);
  return query;
}

absl::StatusOr<planner::PlanQuery> QueryOf(const v1::StudyRequest& request, int32_t host_cores) {
  ASSIGN_OR_RETURN(planner::PlanQuery query,
                   ReadPlan(request.plan(), kDefaultFramework, host_cores));
  query.where = request.where();
  return query;
}

absl::StatusOr<planner::FastestQuery> QueryOf(const v1::FastestRequest& request,
                                              int32_t host_cores) {
  planner::FastestQuery query;
  ASSIGN_OR_RETURN(query.plan, ReadPlan(request.plan(), kDefaultFramework, host_cores));
  wire::ReadFastest(request, query);
  return query;
}

absl::StatusOr<planner::PlanQuery> QueryOf(const v1::FitRequest& request, int32_t host_cores) {
  ASSIGN_OR_RETURN(planner::PlanQuery query,
                   ReadPlan(request.plan(), kDefaultFramework, host_cores));
  if (request.has_max_oom_probability()) query.max_oom_probability = request.max_oom_probability();
  query.offload = request.offload();
  query.where = request.where();
  return query;
}

planner::PictureOrigin OriginOf(std::string question, std::string_view method,
                                const google::protobuf::Message& request, absl::Time now) {
  std::string json;
  // A request that was received has a JSON form.
  (void)google::protobuf::util::MessageToJsonString(request, &json);
  return {.question = std::move(question),
          .date = absl::FormatTime("%Y-%m-%d", now, absl::UTCTimeZone()),
          .command = absl::StrCat("POST /meshwright.v1.Planner/", AbslView(method), " ", json)};
}

}  // namespace meshwright::server
