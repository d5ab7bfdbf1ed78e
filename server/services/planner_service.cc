#include "server/services/planner_service.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "executor/wire/message_codec.h"
#include "executor/wire/wire.h"
#include "planner/drawing/timeline_svg.h"
#include "planner/report/left_out_file.h"
#include "planner/report/question_text.h"
#include "planner/report/schedule_answer.h"
#include "planner/report/schedule_fields.h"
#include "server/calls/plan_request.h"
#include "server/services/ask_stream.h"
#include "server/services/condition_fields.h"
#include "server/services/drawn_answer.h"
#include "server/services/interchange_calls.h"
#include "server/services/plan_questions.h"

namespace meshwright::server {
namespace {

constexpr int32_t kDefaultTop = 10;
// A step that a server simulates takes at most some 100 ms, and its picture some 4 MB.
constexpr int64_t kMostStepActions = 1'000'000;
constexpr size_t kMostDrawnActions = 20'000;

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

absl::StatusOr<planner::CompareAnswer> CompareAll(const v1::CompareRequest& request,
                                                  int32_t host_cores) {
  ASSIGN_OR_RETURN(const planner::PlanQuery query, QueryOf(request, host_cores));
  return planner::AnswerCompare(query, {request.layouts().begin(), request.layouts().end()},
                                host_cores);
}

absl::StatusOr<planner::ScaleAnswer> ScaleOver(const v1::ScaleRequest& request, int32_t host_cores,
                                               const planner::SearchRun& run,
                                               const planner::ScaleProgress& progress) {
  ASSIGN_OR_RETURN(const planner::ScaleQuery query, QueryOf(request, host_cores));
  return planner::AnswerScale(query, host_cores, run, progress);
}

absl::StatusOr<planner::StudyAnswer> StudyChoices(const v1::StudyRequest& request,
                                                  int32_t host_cores, const planner::SearchRun& run,
                                                  const planner::StudyProgress& progress) {
  ASSIGN_OR_RETURN(const planner::PlanQuery query, QueryOf(request, host_cores));
  return planner::AnswerStudy(query, host_cores, run, progress);
}

absl::StatusOr<planner::FastestAnswer> FindShortest(const v1::FastestRequest& request,
                                                    int32_t host_cores,
                                                    const planner::SearchRun& run,
                                                    const planner::ShortestProgress& progress) {
  ASSIGN_OR_RETURN(const planner::FastestQuery query, QueryOf(request, host_cores));
  return planner::AnswerFastest(query, host_cores, run, progress);
}

absl::StatusOr<planner::FitAnswer> FindLimits(const v1::FitRequest& request, int32_t host_cores,
                                              const planner::SearchRun& run) {
  ASSIGN_OR_RETURN(const planner::PlanQuery query, QueryOf(request, host_cores));
  return planner::AnswerFit(query, request.layout(), host_cores, run);
}

// Writes an answer as its message, or returns why there is none.
template <typename Answer, typename Message>
absl::Status WriteAnswer(const absl::StatusOr<Answer>& answer, Message* response) {
  if (answer.ok()) *response = wire::ToWire(*answer);
  return answer.status();
}

absl::Status SimulateStep(const v1::ScheduleRequest& request, int32_t host_cores, absl::Time now,
                          v1::ScheduleResponse* response) {
  ASSIGN_OR_RETURN(planner::PlanQuery query,
                   ReadPlan(request.plan(), kDefaultFramework, host_cores));
  query.devices = 0;  // the layout's
  ASSIGN_OR_RETURN(const planner::ScheduledStep step,
                   planner::ScheduledStepOf(query, request.layout(), host_cores));
  RETURN_IF_ERROR(CheckScheduledStep(step, kMostStepActions, "simulated by a server"));
  ASSIGN_OR_RETURN(planner::ScheduleAnswer answer, planner::AnswerSchedule(step));
  if (answer.timeline.actions.size() <= kMostDrawnActions) {
    query.devices = answer.layout.devices();
    answer.svg =
        planner::TimelineSvg({answer.layout, answer.micro_batches}, answer.timeline,
                             OriginOf(planner::QuestionText(query), "Schedule", request, now));
  }
  *response = wire::WriteMessage<v1::ScheduleResponse>(answer);
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
  return dispatcher_->Answer(context, *request, [=, this] {
    return WriteAnswer(CompareAll(*request, host_cores_), response);
  });
}

grpc::ServerUnaryReactor* PlannerService::Scale(grpc::CallbackServerContext* context,
                                                const v1::ScaleRequest* request,
                                                v1::ScaleResponse* response) {
  return dispatcher_->AnswerWithSearch(context, *request, [=, this](const planner::SearchRun& run) {
    return WriteAnswer(ScaleOver(*request, host_cores_, run, /*progress=*/{}), response);
  });
}

grpc::ServerUnaryReactor* PlannerService::Study(grpc::CallbackServerContext* context,
                                                const v1::StudyRequest* request,
                                                v1::StudyResponse* response) {
  return dispatcher_->AnswerWithSearch(context, *request, [=, this](const planner::SearchRun& run) {
    return WriteAnswer(StudyChoices(*request, host_cores_, run, /*progress=*/{}), response);
  });
}

grpc::ServerUnaryReactor* PlannerService::Fastest(grpc::CallbackServerContext* context,
                                                  const v1::FastestRequest* request,
                                                  v1::FastestResponse* response) {
  return dispatcher_->AnswerWithSearch(context, *request, [=, this](const planner::SearchRun& run) {
    return WriteAnswer(FindShortest(*request, host_cores_, run, /*progress=*/{}), response);
  });
}

grpc::ServerUnaryReactor* PlannerService::Fit(grpc::CallbackServerContext* context,
                                              const v1::FitRequest* request,
                                              v1::FitResponse* response) {
  return dispatcher_->AnswerWithSearch(context, *request, [=, this](const planner::SearchRun& run) {
    return WriteAnswer(FindLimits(*request, host_cores_, run), response);
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
    for (const planner::LeftOutFile& file : planner::LeftOutFiles()) {
      *response->add_left_out() = wire::WriteMessage<v1::LeftOutFile>(file);
    }
    return absl::OkStatus();
  });
}

grpc::ServerUnaryReactor* PlannerService::Export(grpc::CallbackServerContext* context,
                                                 const v1::ExportRequest* request,
                                                 v1::ExportResponse* response) {
  return dispatcher_->Answer(context, *request,
                             [=, this] { return WriteExport(*request, host_cores_, response); });
}

grpc::ServerUnaryReactor* PlannerService::Import(grpc::CallbackServerContext* context,
                                                 const v1::ImportRequest* request,
                                                 v1::ImportResponse* response) {
  // Files may have some MiB, so that reading them takes a search thread.
  return dispatcher_->AnswerWithSearch(context, *request, [=](const planner::SearchRun&) {
    return ReadFrameworkFiles(*request, response);
  });
}

grpc::ServerUnaryReactor* PlannerService::Schedule(grpc::CallbackServerContext* context,
                                                   const v1::ScheduleRequest* request,
                                                   v1::ScheduleResponse* response) {
  return dispatcher_->AnswerWithSearch(context, *request, [=, this](const planner::SearchRun&) {
    return SimulateStep(*request, host_cores_, clock_(), response);
  });
}

grpc::ServerUnaryReactor* PlannerService::Draw(grpc::CallbackServerContext* context,
                                               const v1::DrawRequest* request,
                                               v1::DrawResponse* response) {
  return dispatcher_->AnswerWithSearch(
      context, *request, [=, this](const planner::SearchRun& run) -> absl::Status {
        ASSIGN_OR_RETURN(*response->mutable_svg(),
                         DrawAnswer(*request, host_cores_, run, clock_()));
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* PlannerService::DescribeConditions(
    grpc::CallbackServerContext* context, const v1::DescribeConditionsRequest* request,
    v1::DescribeConditionsResponse* response) {
  return dispatcher_->Answer(context, *request, [response] {
    *response = AllConditionFields();
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
      return WriteAnswer(ScaleOver(request.scale(), host_cores_, run, of_sizes),
                         response->mutable_scale());
    case v1::AskRequest::kStudy:
      return WriteAnswer(StudyChoices(request.study(), host_cores_, run,
                                      [&](int64_t done, int64_t of) { of_sizes(done, of, 0); }),
                         response->mutable_study());
    case v1::AskRequest::kFastest:
      return WriteAnswer(FindShortest(request.fastest(), host_cores_, run, of_sizes),
                         response->mutable_fastest());
    case v1::AskRequest::kFit:
      return WriteAnswer(FindLimits(request.fit(), host_cores_, run), response->mutable_fit());
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
