#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/text/status_macros.h"
#include "executor/wire/message_codec.h"
#include "executor/wire/wire.h"
#include "meshwright/v1/planner.grpc.pb.h"
#include "tools/cli/common/server_client.h"
#include "tools/cli/io/interrupt_guard.h"
#include "tools/cli/plan/planner_api.h"
#include "tools/cli/plan/search_line.h"

namespace meshwright::cli {
namespace {

// Returns the presets of a server's answer. A server that is older than this program sends only the
// names.
template <typename Preset, typename Messages, typename Names>
absl::StatusOr<std::vector<Preset>> ReadPresets(const Messages& messages, const Names& names) {
  std::vector<Preset> presets;
  for (const auto& message : messages) {
    ASSIGN_OR_RETURN(Preset preset, wire::ReadMessage<Preset>(message));
    presets.push_back(std::move(preset));
  }
  if (!presets.empty()) return presets;
  for (const std::string& name : names) presets.emplace_back().name = name;
  return presets;
}

// Every call connects anew and fails with a sentence for people.
class GrpcPlanner final : public PlannerApi {
 public:
  GrpcPlanner(ServerFlags server, const CommandContext& context)
      : server_(std::move(server)), context_(context) {}

  absl::StatusOr<planner::RecommendAnswer> Recommend(const planner::PlanQuery& query) override {
    v1::AskRequest ask;
    v1::RecommendRequest& request = *ask.mutable_recommend();
    *request.mutable_plan() = wire::ToWire(query);
    request.set_top(query.top);
    if (query.max_oom_probability) request.set_max_oom_probability(*query.max_oom_probability);
    request.set_offload(query.offload);
    request.set_where(query.where);
    request.set_objective(query.objective);
    request.set_pareto(query.pareto);
    request.set_best_per(query.best_per);
    if (query.time_limit_s) request.set_time_limit_s(*query.time_limit_s);
    request.set_mine(query.mine);
    request.mutable_search()->Add(query.search.begin(), query.search.end());
    SearchLine line(context_);
    ASSIGN_OR_RETURN(const v1::AskResponse answer, Ask(ask, [&line](const v1::Progress& progress) {
                       line.Show(progress.done(), progress.of());
                     }));
    return wire::FromWire(answer.recommend());
  }

  absl::StatusOr<planner::EstimateAnswer> Estimate(const planner::PlanQuery& query,
                                                   std::string_view layout) override {
    ASSIGN_OR_RETURN(const std::unique_ptr<v1::Planner::Stub> stub, Stub());
    v1::EstimateRequest request;
    *request.mutable_plan() = wire::ToWire(query);
    request.set_layout(std::string(layout));
    grpc::ClientContext context;
    SetDeadline(context);
    const InterruptGuard guard(context_.interrupted, context);
    v1::EstimateResponse response;
    RETURN_IF_ERROR(CallStatus(stub->Estimate(&context, request, &response)));
    return wire::FromWire(response);
  }

  absl::StatusOr<planner::CompareAnswer> Compare(const planner::PlanQuery& query,
                                                 const std::vector<std::string>& layouts) override {
    ASSIGN_OR_RETURN(const std::unique_ptr<v1::Planner::Stub> stub, Stub());
    v1::CompareRequest request;
    *request.mutable_plan() = wire::ToWire(query);
    request.mutable_layouts()->Add(layouts.begin(), layouts.end());
    grpc::ClientContext context;
    SetDeadline(context);
    const InterruptGuard guard(context_.interrupted, context);
    v1::CompareResponse response;
    RETURN_IF_ERROR(CallStatus(stub->Compare(&context, request, &response)));
    return wire::FromWire(response);
  }

  absl::StatusOr<planner::ScaleAnswer> Scale(const planner::ScaleQuery& query,
                                             const planner::ScaleProgress& progress) override {
    v1::AskRequest ask;
    *ask.mutable_scale() = wire::ToWire(query);
    ASSIGN_OR_RETURN(const v1::AskResponse answer, Ask(ask, [&progress](const v1::Progress& at) {
                       if (progress) progress(at.done(), at.of(), at.gpus());
                     }));
    return wire::FromWire(answer.scale());
  }

  absl::StatusOr<planner::StudyAnswer> Study(const planner::PlanQuery& query,
                                             const planner::StudyProgress& progress) override {
    v1::AskRequest ask;
    *ask.mutable_study()->mutable_plan() = wire::ToWire(query);
    ask.mutable_study()->set_where(query.where);
    ASSIGN_OR_RETURN(const v1::AskResponse answer, Ask(ask, [&progress](const v1::Progress& at) {
                       if (progress) progress(at.done(), at.of());
                     }));
    return wire::FromWire(answer.study());
  }

  absl::StatusOr<planner::FastestAnswer> Fastest(
      const planner::FastestQuery& query, const planner::ShortestProgress& progress) override {
    v1::AskRequest ask;
    *ask.mutable_fastest() = wire::ToWire(query);
    ASSIGN_OR_RETURN(const v1::AskResponse answer, Ask(ask, [&progress](const v1::Progress& at) {
                       if (progress) progress(at.done(), at.of(), at.gpus());
                     }));
    return wire::FromWire(answer.fastest());
  }

  absl::StatusOr<planner::FitAnswer> Fit(const planner::PlanQuery& query,
                                         std::string_view layout) override {
    v1::AskRequest ask;
    v1::FitRequest& request = *ask.mutable_fit();
    *request.mutable_plan() = wire::ToWire(query);
    request.set_layout(std::string(layout));
    if (query.max_oom_probability) request.set_max_oom_probability(*query.max_oom_probability);
    request.set_offload(query.offload);
    request.set_where(query.where);
    ASSIGN_OR_RETURN(const v1::AskResponse answer, Ask(ask, [](const v1::Progress&) {}));
    return wire::FromWire(answer.fit());
  }

  absl::StatusOr<planner::AllPresets> Presets() override {
    ASSIGN_OR_RETURN(const std::unique_ptr<v1::Planner::Stub> stub, Stub());
    grpc::ClientContext context;
    SetDeadline(context);
    v1::ListPresetsResponse response;
    RETURN_IF_ERROR(CallStatus(stub->ListPresets(&context, {}, &response)));
    planner::AllPresets presets;
    ASSIGN_OR_RETURN(presets.models, ReadPresets<planner::ModelPreset>(response.model_presets(),
                                                                       response.models()));
    ASSIGN_OR_RETURN(presets.clusters, ReadPresets<planner::ClusterPreset>(
                                           response.cluster_presets(), response.clusters()));
    ASSIGN_OR_RETURN(presets.profiles, ReadPresets<planner::ProfilePreset>(
                                           response.profile_presets(), response.profiles()));
    return presets;
  }

 private:
  absl::StatusOr<std::unique_ptr<v1::Planner::Stub>> Stub() const {
    ASSIGN_OR_RETURN(const std::shared_ptr<grpc::Channel> channel, ConnectTo(server_));
    return v1::Planner::NewStub(channel);
  }

  // Reports the search's progress until the answer arrives, which it returns.
  absl::StatusOr<v1::AskResponse> Ask(
      const v1::AskRequest& request,
      const std::function<void(const v1::Progress&)>& on_progress) const {
    ASSIGN_OR_RETURN(const std::unique_ptr<v1::Planner::Stub> stub, Stub());
    // No deadline: progress shows that it runs, and Ctrl-C ends it.
    grpc::ClientContext call;
    const InterruptGuard guard(context_.interrupted, call);
    const std::unique_ptr<grpc::ClientReader<v1::AskResponse>> stream = stub->Ask(&call, request);
    v1::AskResponse response;
    while (stream->Read(&response)) {
      if (response.has_progress()) on_progress(response.progress());
    }
    RETURN_IF_ERROR(CallStatus(stream->Finish()));
    return response;
  }

  const ServerFlags server_;
  const CommandContext& context_;
};

}  // namespace

std::unique_ptr<PlannerApi> PlannerAt(const ServerFlags& server, const CommandContext& context) {
  if (server.empty()) return LocalPlanner(context);
  return std::make_unique<GrpcPlanner>(server, context);
}

}  // namespace meshwright::cli
