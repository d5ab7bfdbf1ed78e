#include "server/services/planner_service.h"

#include <memory>

#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "executor/wire/message_codec.h"
#include "executor/wire/wire.h"
#include "server/calls/plan_request.h"
#include "server/services/ask_stream.h"

namespace meshwright::server {
namespace {

constexpr char kDefaultFramework[] = "megatron";
constexpr int32_t kDefaultTop = 10;

absl::Status Recommend(const v1::RecommendRequest& request, int32_t host_cores,
                       const Recommender& recommend, const planner::SearchRun& run,
                       v1::RecommendResponse* response) {
  ASSIGN_OR_RETURN(planner::PlanQuery query,
                   ReadPlan(request.plan(), kDefaultFramework, host_cores));
  query.top = request.top() == 0 ? kDefaultTop : request.top();
  if (request.has_max_oom_probability()) query.max_oom_probability = request.max_oom_probability();
  query.offload = request.offload();
  query.where = request.where();
  query.objective = request.objective();
  query.pareto = request.pareto();
  query.best_per = request.best_per();
  if (request.has_time_limit_s()) query.time_limit_s = request.time_limit_s();
  query.mine = request.mine();
  query.search = {request.search().begin(), request.search().end()};
  ASSIGN_OR_RETURN(const planner::RecommendAnswer answer, recommend(query, host_cores, run));
  *response = wire::ToWire(answer);
  return absl::OkStatus();
}

absl::Status EstimateOne(const v1::EstimateRequest& request, int32_t host_cores,
                         const planner::SearchRun& run, v1::EstimateResponse* response) {
  ASSIGN_OR_RETURN(const planner::PlanQuery query,
                   ReadPlan(request.plan(), kDefaultFramework, host_cores));
  ASSIGN_OR_RETURN(const planner::EstimateAnswer answer,
                   planner::AnswerEstimate(query, request.layout(), host_cores, run.cancelled));
  *response = wire::ToWire(answer);
  return absl::OkStatus();
}

absl::Status CompareAll(const v1::CompareRequest& request, int32_t host_cores,
                        v1::CompareResponse* response) {
  ASSIGN_OR_RETURN(const planner::PlanQuery query,
                   ReadPlan(request.plan(), kDefaultFramework, host_cores));
  ASSIGN_OR_RETURN(const planner::CompareAnswer answer,
                   planner::AnswerCompare(
                       query, {request.layouts().begin(), request.layouts().end()}, host_cores));
  *response = wire::ToWire(answer);
  return absl::OkStatus();
}

absl::Status ScaleOver(const v1::ScaleRequest& request, int32_t host_cores,
                       const planner::SearchRun& run, const planner::ScaleProgress& progress,
                       v1::ScaleResponse* response) {
  planner::ScaleQuery query;
  ASSIGN_OR_RETURN(query.plan, ReadPlan(request.plan(), kDefaultFramework, host_cores));
  wire::ReadScale(request, query);
  ASSIGN_OR_RETURN(const planner::ScaleAnswer answer,
                   planner::AnswerScale(query, host_cores, run, progress));
  *response = wire::ToWire(answer);
  return absl::OkStatus();
}

absl::Status StudyChoices(const v1::StudyRequest& request, int32_t host_cores,
                          const planner::SearchRun& run, const planner::StudyProgress& progress,
                          v1::StudyResponse* response) {
  ASSIGN_OR_RETURN(planner::PlanQuery query,
                   ReadPlan(request.plan(), kDefaultFramework, host_cores));
  query.where = request.where();
  ASSIGN_OR_RETURN(const planner::StudyAnswer answer,
                   planner::AnswerStudy(query, host_cores, run, progress));
  *response = wire::ToWire(answer);
  return absl::OkStatus();
}

absl::Status FindShortest(const v1::FastestRequest& request, int32_t host_cores,
                          const planner::SearchRun& run, const planner::ShortestProgress& progress,
                          v1::FastestResponse* response) {
  planner::FastestQuery query;
  ASSIGN_OR_RETURN(query.plan, ReadPlan(request.plan(), kDefaultFramework, host_cores));
  wire::ReadFastest(request, query);
  ASSIGN_OR_RETURN(const planner::FastestAnswer answer,
                   planner::AnswerFastest(query, host_cores, run, progress));
  *response = wire::ToWire(answer);
  return absl::OkStatus();
}

absl::Status FindLimits(const v1::FitRequest& request, int32_t host_cores,
                        const planner::SearchRun& run, v1::FitResponse* response) {
  ASSIGN_OR_RETURN(planner::PlanQuery query,
                   ReadPlan(request.plan(), kDefaultFramework, host_cores));
  if (request.has_max_oom_probability()) query.max_oom_probability = request.max_oom_probability();
  query.offload = request.offload();
  query.where = request.where();
  ASSIGN_OR_RETURN(const planner::FitAnswer answer,
                   planner::AnswerFit(query, request.layout(), host_cores, run));
  *response = wire::ToWire(answer);
  return absl::OkStatus();
}

}  // namespace

grpc::ServerUnaryReactor* PlannerService::Recommend(grpc::CallbackServerContext* context,
                                                    const v1::RecommendRequest* request,
                                                    v1::RecommendResponse* response) {
  return dispatcher_->AnswerWithSearch(context, *request, [=, this](const planner::SearchRun& run) {
    return server::Recommend(*request, host_cores_, recommend_, run, response);
  });
}

grpc::ServerUnaryReactor* PlannerService::Estimate(grpc::CallbackServerContext* context,
                                                   const v1::EstimateRequest* request,
                                                   v1::EstimateResponse* response) {
  return dispatcher_->AnswerWithSearch(context, *request, [=, this](const planner::SearchRun& run) {
    return EstimateOne(*request, host_cores_, run, response);
  });
}

grpc::ServerUnaryReactor* PlannerService::Compare(grpc::CallbackServerContext* context,
                                                  const v1::CompareRequest* request,
                                                  v1::CompareResponse* response) {
  return dispatcher_->Answer(context, *request,
                             [=, this] { return CompareAll(*request, host_cores_, response); });
}

grpc::ServerUnaryReactor* PlannerService::Scale(grpc::CallbackServerContext* context,
                                                const v1::ScaleRequest* request,
                                                v1::ScaleResponse* response) {
  return dispatcher_->AnswerWithSearch(context, *request, [=, this](const planner::SearchRun& run) {
    return ScaleOver(*request, host_cores_, run, /*progress=*/{}, response);
  });
}

grpc::ServerUnaryReactor* PlannerService::Study(grpc::CallbackServerContext* context,
                                                const v1::StudyRequest* request,
                                                v1::StudyResponse* response) {
  return dispatcher_->AnswerWithSearch(context, *request, [=, this](const planner::SearchRun& run) {
    return StudyChoices(*request, host_cores_, run, /*progress=*/{}, response);
  });
}

grpc::ServerUnaryReactor* PlannerService::Fastest(grpc::CallbackServerContext* context,
                                                  const v1::FastestRequest* request,
                                                  v1::FastestResponse* response) {
  return dispatcher_->AnswerWithSearch(context, *request, [=, this](const planner::SearchRun& run) {
    return FindShortest(*request, host_cores_, run, /*progress=*/{}, response);
  });
}

grpc::ServerUnaryReactor* PlannerService::Fit(grpc::CallbackServerContext* context,
                                              const v1::FitRequest* request,
                                              v1::FitResponse* response) {
  return dispatcher_->AnswerWithSearch(context, *request, [=, this](const planner::SearchRun& run) {
    return FindLimits(*request, host_cores_, run, response);
  });
}

grpc::ServerUnaryReactor* PlannerService::ListPresets(grpc::CallbackServerContext* context,
                                                      const v1::ListPresetsRequest* request,
                                                      v1::ListPresetsResponse* response) {
  return dispatcher_->Answer(context, *request, [this, response] {
    const planner::AllPresets presets = planner::AnswerPresets(host_cores_);
    for (const planner::ModelPreset& model : presets.models) {
      response->add_models(model.name);
      *response->add_model_presets() = wire::WriteMessage<v1::ModelPreset>(model);
    }
    for (const planner::ClusterPreset& cluster : presets.clusters) {
      response->add_clusters(cluster.name);
      *response->add_cluster_presets() = wire::WriteMessage<v1::ClusterPreset>(cluster);
    }
    for (const planner::ProfilePreset& profile : presets.profiles) {
      response->add_profiles(profile.name);
      *response->add_profile_presets() = wire::WriteMessage<v1::ProfilePreset>(profile);
    }
    return absl::OkStatus();
  });
}

absl::Status PlannerService::Find(const v1::AskRequest& request, planner::SearchRun run,
                                  const Teller& tell, v1::AskResponse* response) const {
  // A message may be dropped where the previous one was sent a moment ago, so that each look at the
  // clock sends it again.
  v1::Progress last;
  const auto of_sizes = [&](int64_t done, int64_t of, int64_t gpus) {
    last.set_done(done);
    last.set_of(of);
    last.set_gpus(gpus);
    tell(done, of, gpus);
  };
  run.progress = [&](const planner::SearchProgress&) {
    if (last.of() > 0) tell(last.done(), last.of(), last.gpus());
  };
  switch (request.question_case()) {
    case v1::AskRequest::kRecommend:
      run.progress = [&tell](const planner::SearchProgress& search) {
        tell(search.seen, search.of, 0);
      };
      return server::Recommend(request.recommend(), host_cores_, recommend_, run,
                               response->mutable_recommend());
    case v1::AskRequest::kScale:
      return ScaleOver(request.scale(), host_cores_, run, of_sizes, response->mutable_scale());
    case v1::AskRequest::kStudy:
      return StudyChoices(
          request.study(), host_cores_, run,
          [&](int64_t done, int64_t of) { of_sizes(done, of, 0); }, response->mutable_study());
    case v1::AskRequest::kFastest:
      return FindShortest(request.fastest(), host_cores_, run, of_sizes,
                          response->mutable_fastest());
    case v1::AskRequest::kFit:
      return FindLimits(request.fit(), host_cores_, run, response->mutable_fit());
    case v1::AskRequest::QUESTION_NOT_SET:
      break;
  }
  return FieldError("question", "", "must be one of recommend, scale, study, fastest and fit");
}

grpc::ServerWriteReactor<v1::AskResponse>* PlannerService::Ask(grpc::CallbackServerContext* context,
                                                               const v1::AskRequest* request) {
  auto* stream = new AskStream(now_);
  auto answer = std::make_shared<v1::AskResponse>();
  dispatcher_->Search(
      context, *request,
      [=, this](const planner::SearchRun& run) {
        const Teller tell = [stream](int64_t done, int64_t of, int64_t gpus) {
          v1::Progress progress;
          progress.set_done(done);
          progress.set_of(of);
          progress.set_gpus(gpus);
          stream->Tell(progress);
        };
        return Find(*request, run, tell, answer.get());
      },
      [=](const absl::Status& status) { stream->End(status, std::move(*answer)); });
  return stream;
}

}  // namespace meshwright::server
