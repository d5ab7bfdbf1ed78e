#include "server/services/sweeps_service.h"

#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "executor/wire/runner_offer.h"
#include "executor/wire/wire.h"
#include "google/protobuf/util/json_util.h"
#include "planner/catalog/catalog.h"
#include "planner/interchange/export.h"
#include "proto/meshwright/v1/resource_names.h"
#include "server/calls/call_status.h"
#include "server/calls/plan_request.h"
#include "server/services/sweep_watch.h"
#include "server/sweeps/import.h"
#include "server/sweeps/runner_search.h"
#include "server/sweeps/sweep_builder.h"
#include "server/sweeps/sweep_messages.h"
#include "server/sweeps/told_result.h"

namespace meshwright::server {
namespace {

constexpr char kSweepFramework[] = "meshwright";

// A watch that can't begin: it ends at once with a status.
class RefusedWatch final : public grpc::ServerWriteReactor<v1::SweepEvent> {
 public:
  explicit RefusedWatch(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

SweepOptions OptionsOf(const v1::CreateSweepRequest& request) {
  SweepOptions options;
  options.sweep_id = request.sweep_id();
  options.request_id = request.request_id();
  options.trials = request.trials();
  options.candidates = request.candidates();
  if (request.has_min_gain()) options.min_gain = request.min_gain();
  options.layouts.assign(request.layouts().begin(), request.layouts().end());
  options.adaptive = request.steps() == 0;
  options.steps = options.adaptive ? trial::kMostAdaptiveSteps : request.steps();
  options.seed = request.seed();
  if (request.memory_limit_bytes() != 0) options.memory_limit_bytes = request.memory_limit_bytes();
  return options;
}

// Makes the offered runner the one of the sweep's trials.
absl::Status SetRunner(const v1::CreateSweepRequest& request, const wire::RunnerOffer& offer,
                       SweepOptions& options) {
  SweepRunner runner;
  ASSIGN_OR_RETURN(runner.choice, wire::Choose(offer, {request.runner_fields().begin(),
                                                       request.runner_fields().end()}));
  runner.where = offer.where;
  std::string profile = offer.framework;
  if (!offer.export_to.empty()) {
    ASSIGN_OR_RETURN(const planner::ExportTarget target,
                     planner::ParseExportTarget(offer.export_to));
    profile = planner::ProfileOfTarget(target);
  }
  ASSIGN_OR_RETURN(runner.profile, planner::FindProfile(profile));
  options.runner = std::move(runner);
  return absl::OkStatus();
}

// Checks a new sweep's name; empty lets the store pick one.
absl::Status CheckNewName(const std::string& sweep_id) {
  const absl::Status status = sweep_id.empty() ? absl::OkStatus() : CheckSweepId(sweep_id);
  return status.ok() ? status : WithField(status, "sweep_id");
}

// Returns the request as the store keeps it: an object whose one key is the kind of request.
template <typename Request>
absl::StatusOr<std::string> RequestJson(std::string_view what, const Request& request) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  if (const auto status = google::protobuf::util::MessageToJsonString(request, &json, options);
      !status.ok()) {
    return absl::InvalidArgumentError("the request can't be kept: a text in it is not UTF-8");
  }
  return absl::StrCat("{\"", AbslView(what), "\":", json, "}");
}

template <typename Response>
absl::Status Deliver(absl::StatusOr<Response> answer, Response* response) {
  if (!answer.ok()) return answer.status();
  *response = *std::move(answer);
  return absl::OkStatus();
}

}  // namespace

absl::Status SweepsService::Create(const v1::CreateSweepRequest& request,
                                   const planner::SearchRun& run,
                                   const grpc::CallbackServerContext& context,
                                   v1::Sweep* response) const {
  RETURN_IF_ERROR(CheckNewName(request.sweep_id()));
  if (request.ask() && !request.runner().empty()) {
    return FieldError("runner", request.runner(),
                      "runs trials on agents; must be absent in a sweep with ask");
  }
  SweepOptions options = OptionsOf(request);
  std::string framework = kSweepFramework;
  if (!request.runner().empty()) {
    ASSIGN_OR_RETURN(const wire::RunnerOffer offer,
                     FindOffer(parts_.engine->ListAgents(), request.runner()));
    RETURN_IF_ERROR(SetRunner(request, offer, options));
    framework = offer.framework;
  }
  ASSIGN_OR_RETURN(const planner::PlanQuery query,
                   ReadPlan(request.plan(), framework, parts_.host_cores));
  ASSIGN_OR_RETURN(planner::SearchRequest search, planner::Resolve(query, parts_.host_cores));
  search.run = run;
  if (request.ask()) options.runner = SweepRunner{.profile = search.profile};
  ASSIGN_OR_RETURN(options.request_json, RequestJson("create_sweep", request));
  ASSIGN_OR_RETURN(NewSweep made, BuildSweep(search, options, parts_.version, parts_.clock()));
  if (!request.fresh()) {
    RETURN_IF_ERROR(ReuseResults(*parts_.store, parts_.version, options.adaptive, made));
  }
  if (request.validate_only()) {
    const absl::StatusOr<db::SweepRecord> found = parts_.store->GetSweep(made.sweep.name);
    const bool is_repeated =
        found.ok() && !found->request_id.empty() && found->request_id == made.sweep.request_id;
    if (found.ok() && !is_repeated) return db::SweepExists(made.sweep.name);
    made.sweep.candidates = static_cast<int32_t>(made.candidates.size());
    for (const db::TrialRecord& candidate : made.candidates) {
      if (!candidate.is_open) ++made.sweep.trial_counts[candidate.state];
    }
    *response = ToWire(made.sweep);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(made.sweep.actor, dispatcher_->ActorOf(context));
  ASSIGN_OR_RETURN(const db::SweepRecord sweep, parts_.engine->Create(made));
  *response = ToWire(sweep);
  return absl::OkStatus();
}

absl::Status SweepsService::Rerun(const v1::RerunSweepRequest& request,
                                  const grpc::CallbackServerContext& context,
                                  v1::Sweep* response) const {
  RETURN_IF_ERROR(CheckNewName(request.sweep_id()));
  ASSIGN_OR_RETURN(const db::SweepRecord source, queries_.Find(request.name()));
  ASSIGN_OR_RETURN(const std::vector<db::TrialRecord> trials,
                   parts_.store->ListTrials(source.id, db::TrialOrder::kNumber, 0,
                                            std::numeric_limits<int32_t>::max()));
  if (trials.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("sweep ", source.name, " has no trial to run again"));
  }
  SweepOptions options;
  options.sweep_id = request.sweep_id();
  options.request_id = request.request_id();
  ASSIGN_OR_RETURN(options.request_json, RequestJson("rerun_sweep", request));
  NewSweep made = RepeatSweep(source, trials, options, parts_.clock());
  ASSIGN_OR_RETURN(made.sweep.actor, dispatcher_->ActorOf(context));
  ASSIGN_OR_RETURN(const db::SweepRecord sweep, parts_.engine->Create(made));
  *response = ToWire(sweep);
  return absl::OkStatus();
}

absl::Status SweepsService::Ask(const v1::AskTrialRequest& request,
                                const grpc::CallbackServerContext& context,
                                v1::AskTrialResponse* response) const {
  ASSIGN_OR_RETURN(const db::SweepRecord sweep, queries_.Find(request.name()));
  if (db::HasEnded(sweep.state)) {
    return absl::FailedPreconditionError(
        absl::StrCat("sweep ", sweep.name, " hands out no trial: it is ",
                     AbslView(db::SweepStateName(sweep.state)), " (", sweep.reason, ")"));
  }
  ASSIGN_OR_RETURN(const absl::Duration lease, ReadLease("lease_s", request.lease_s()));
  ASSIGN_OR_RETURN(const std::string actor, dispatcher_->ActorOf(context));
  ASSIGN_OR_RETURN(const AskedTrial asked, parts_.engine->AskTrial(sweep.name, actor, lease));
  ASSIGN_OR_RETURN(*response->mutable_trial(), ReadTrial(asked.key));
  response->set_token(AskToken(asked));
  *response->mutable_lease_end_time() = wire::ToWire(asked.lease_end);
  return absl::OkStatus();
}

absl::Status SweepsService::Tell(const v1::TellTrialRequest& request,
                                 const grpc::CallbackServerContext& context,
                                 v1::TellTrialResponse* response) const {
  ASSIGN_OR_RETURN(const TellKey to, ReadTellKey(request));
  ASSIGN_OR_RETURN(const std::string actor, dispatcher_->ActorOf(context));
  switch (request.what_case()) {
    case v1::TellTrialRequest::kResult: {
      ASSIGN_OR_RETURN(const trial::TrialResult result, ReadToldResult(request.result()));
      RETURN_IF_ERROR(parts_.engine->TellTrial(to.key, to.token, actor, result));
      break;
    }
    case v1::TellTrialRequest::kRenewS: {
      ASSIGN_OR_RETURN(const absl::Duration lease, ReadLease("renew_s", request.renew_s()));
      ASSIGN_OR_RETURN(const absl::Time end, parts_.engine->RenewLease(to.key, to.token, lease));
      *response->mutable_lease_end_time() = wire::ToWire(end);
      break;
    }
    case v1::TellTrialRequest::kGiveBack:
      RETURN_IF_ERROR(parts_.engine->GiveBack(to.key, to.token, actor));
      break;
    case v1::TellTrialRequest::WHAT_NOT_SET:
      return FieldError("what", "(absent)", "must be result, renew_s or give_back");
  }
  ASSIGN_OR_RETURN(*response->mutable_trial(), ReadTrial(to.key));
  return absl::OkStatus();
}

absl::StatusOr<v1::Trial> SweepsService::ReadTrial(const wire::AttemptKey& key) const {
  v1::GetTrialRequest request;
  request.set_name(FormatTrialName(key.sweep, key.trial));
  return queries_.GetTrial(request);
}

absl::Status SweepsService::Import(const v1::ImportMeasurementsRequest& request,
                                   const planner::SearchRun& run,
                                   const grpc::CallbackServerContext& context,
                                   v1::ImportMeasurementsResponse* response) const {
  ASSIGN_OR_RETURN(ReadRuns read, ReadImport(request.csv(), parts_.host_cores, run.cancelled));
  response->set_rows(read.rows);
  for (const RefusedRow& row : read.refused) {
    v1::RefusedRow& refused = *response->add_refused();
    refused.set_line(row.line);
    refused.set_subject(row.subject);
    refused.set_reason(row.reason);
  }
  if (request.validate_only()) return absl::OkStatus();
  if (!request.skip_refused()) RETURN_IF_ERROR(StatusOf(read.refused));
  ASSIGN_OR_RETURN(const std::string actor, dispatcher_->ActorOf(context));
  const absl::Time now = parts_.clock();
  for (db::NewImport& one : read.runs) {
    one.run.actor = actor;
    one.run.import_time = now;
  }
  const auto taken = static_cast<int64_t>(read.runs.size());
  ASSIGN_OR_RETURN(const int64_t imported, parts_.engine->Import(std::move(read.runs)));
  response->set_imported(imported);
  response->set_known(taken - imported);
  return absl::OkStatus();
}

grpc::ServerUnaryReactor* SweepsService::CreateSweep(grpc::CallbackServerContext* context,
                                                     const v1::CreateSweepRequest* request,
                                                     v1::Sweep* response) {
  return dispatcher_->AnswerWithSearch(context, *request, [=, this](const planner::SearchRun& run) {
    return Create(*request, run, *context, response);
  });
}

grpc::ServerUnaryReactor* SweepsService::GetSweep(grpc::CallbackServerContext* context,
                                                  const v1::GetSweepRequest* request,
                                                  v1::Sweep* response) {
  return dispatcher_->Answer(context, *request,
                             [=, this] { return Deliver(queries_.GetSweep(*request), response); });
}

grpc::ServerUnaryReactor* SweepsService::ListSweeps(grpc::CallbackServerContext* context,
                                                    const v1::ListSweepsRequest* request,
                                                    v1::ListSweepsResponse* response) {
  return dispatcher_->Answer(
      context, *request, [=, this] { return Deliver(queries_.ListSweeps(*request), response); });
}

grpc::ServerWriteReactor<v1::SweepEvent>* SweepsService::WatchSweep(
    grpc::CallbackServerContext* context, const v1::WatchSweepRequest* request) {
  if (const absl::Status status = dispatcher_->Admit(*context, *request); !status.ok()) {
    return new RefusedWatch(Reply(status));
  }
  absl::StatusOr<StreamLease> lease = dispatcher_->LeaseWatcherStream(*context);
  if (!lease.ok()) return new RefusedWatch(Reply(lease.status()));
  const absl::StatusOr<db::SweepRecord> sweep = queries_.Find(request->name());
  if (!sweep.ok()) return new RefusedWatch(Reply(sweep.status()));
  return new SweepWatch({.store = parts_.store,
                         .hub = parts_.hub,
                         .stopping = parts_.stopping,
                         .now = parts_.monotonic_clock,
                         .heartbeat = parts_.heartbeat},
                        *sweep, request->after_sequence(), *std::move(lease));
}

grpc::ServerUnaryReactor* SweepsService::GetSweepPlan(grpc::CallbackServerContext* context,
                                                      const v1::GetSweepPlanRequest* request,
                                                      v1::SweepPlan* response) {
  // Choosing takes a search thread, as a search does.
  return dispatcher_->AnswerWithSearch(context, *request, [=, this](const planner::SearchRun&) {
    return Deliver(queries_.GetSweepPlan(*request), response);
  });
}

grpc::ServerUnaryReactor* SweepsService::CancelSweep(grpc::CallbackServerContext* context,
                                                     const v1::CancelSweepRequest* request,
                                                     v1::Sweep* response) {
  return dispatcher_->AnswerOnceStored(context, *request, [=, this] {
    absl::StatusOr<db::SweepRecord> sweep = queries_.Find(request->name());
    const absl::StatusOr<std::string> actor = dispatcher_->ActorOf(*context);
    if (!actor.ok()) return actor.status();
    if (sweep.ok()) sweep = parts_.engine->Cancel(sweep->name, *actor);
    if (sweep.ok()) *response = ToWire(*sweep);
    return sweep.status();
  });
}

grpc::ServerUnaryReactor* SweepsService::RerunSweep(grpc::CallbackServerContext* context,
                                                    const v1::RerunSweepRequest* request,
                                                    v1::Sweep* response) {
  return dispatcher_->AnswerOnceStored(context, *request,
                                       [=, this] { return Rerun(*request, *context, response); });
}

grpc::ServerUnaryReactor* SweepsService::DeleteSweep(grpc::CallbackServerContext* context,
                                                     const v1::DeleteSweepRequest* request,
                                                     google::protobuf::Empty*) {
  return dispatcher_->AnswerOnceStored(context, *request, [=, this] {
    const absl::StatusOr<db::SweepRecord> sweep = queries_.Find(request->name());
    const absl::StatusOr<std::string> actor = dispatcher_->ActorOf(*context);
    if (!actor.ok()) return actor.status();
    return sweep.ok() ? parts_.engine->Delete(sweep->name, request->force(), *actor)
                      : sweep.status();
  });
}

grpc::ServerUnaryReactor* SweepsService::ListTrials(grpc::CallbackServerContext* context,
                                                    const v1::ListTrialsRequest* request,
                                                    v1::ListTrialsResponse* response) {
  return dispatcher_->Answer(
      context, *request, [=, this] { return Deliver(queries_.ListTrials(*request), response); });
}

grpc::ServerUnaryReactor* SweepsService::GetTrial(grpc::CallbackServerContext* context,
                                                  const v1::GetTrialRequest* request,
                                                  v1::Trial* response) {
  return dispatcher_->Answer(context, *request,
                             [=, this] { return Deliver(queries_.GetTrial(*request), response); });
}

grpc::ServerUnaryReactor* SweepsService::AskTrial(grpc::CallbackServerContext* context,
                                                  const v1::AskTrialRequest* request,
                                                  v1::AskTrialResponse* response) {
  return dispatcher_->AnswerOnceStored(context, *request,
                                       [=, this] { return Ask(*request, *context, response); });
}

grpc::ServerUnaryReactor* SweepsService::TellTrial(grpc::CallbackServerContext* context,
                                                   const v1::TellTrialRequest* request,
                                                   v1::TellTrialResponse* response) {
  return dispatcher_->AnswerOnceStored(context, *request,
                                       [=, this] { return Tell(*request, *context, response); });
}

grpc::ServerUnaryReactor* SweepsService::ImportMeasurements(
    grpc::CallbackServerContext* context, const v1::ImportMeasurementsRequest* request,
    v1::ImportMeasurementsResponse* response) {
  // Planning every row takes a search thread, as a search does.
  return dispatcher_->AnswerWithSearch(context, *request, [=, this](const planner::SearchRun& run) {
    return Import(*request, run, *context, response);
  });
}

}  // namespace meshwright::server
