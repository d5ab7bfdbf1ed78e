#include "server/planner_service.h"

#include "executor/agent/wire.h"
#include "planner/report/answers.h"
#include "planner/spec/field_error.h"
#include "planner/spec/status_macros.h"
#include "server/plan_request.h"

namespace meshwright {
namespace {

constexpr char kDefaultFramework[] = "megatron";
constexpr int32_t kDefaultTop = 10;
constexpr int64_t kMaxTop = 1000;

absl::Status Recommend(const v1::RecommendRequest& request, int32_t host_cores,
                       v1::RecommendResponse* response) {
  ASSIGN_OR_RETURN(PlanQuery query, ReadPlan(request.plan(), kDefaultFramework, host_cores));
  query.top = request.top() == 0 ? kDefaultTop : request.top();
  RETURN_IF_ERROR(CheckRange("top", query.top, 1, kMaxTop));
  if (request.has_max_oom_probability()) query.max_oom_probability = request.max_oom_probability();
  query.mine = request.mine();
  ASSIGN_OR_RETURN(const RecommendAnswer answer, AnswerRecommend(query, host_cores));
  *response = ToWire(answer);
  return absl::OkStatus();
}

absl::Status EstimateOne(const v1::EstimateRequest& request, int32_t host_cores,
                         v1::EstimateResponse* response) {
  ASSIGN_OR_RETURN(const PlanQuery query, ReadPlan(request.plan(), kDefaultFramework, host_cores));
  ASSIGN_OR_RETURN(const EstimateAnswer answer,
                   AnswerEstimate(query, request.layout(), host_cores));
  *response = ToWire(answer);
  return absl::OkStatus();
}

}  // namespace

grpc::ServerUnaryReactor* PlannerService::Recommend(grpc::CallbackServerContext* context,
                                                    const v1::RecommendRequest* request,
                                                    v1::RecommendResponse* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(Reply(meshwright::Recommend(*request, host_cores_, response)));
  return reactor;
}

grpc::ServerUnaryReactor* PlannerService::Estimate(grpc::CallbackServerContext* context,
                                                   const v1::EstimateRequest* request,
                                                   v1::EstimateResponse* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(Reply(EstimateOne(*request, host_cores_, response)));
  return reactor;
}

grpc::ServerUnaryReactor* PlannerService::ListPresets(grpc::CallbackServerContext* context,
                                                      const v1::ListPresetsRequest*,
                                                      v1::ListPresetsResponse* response) {
  const PresetNames names = AnswerPresets();
  response->mutable_models()->Add(names.models.begin(), names.models.end());
  response->mutable_clusters()->Add(names.clusters.begin(), names.clusters.end());
  response->mutable_profiles()->Add(names.profiles.begin(), names.profiles.end());
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

}  // namespace meshwright
