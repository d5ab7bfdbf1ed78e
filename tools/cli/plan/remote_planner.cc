#include "tools/cli/plan/remote_planner.h"

#include "executor/agent/wire.h"
#include "meshwright/v1/planner.grpc.pb.h"
#include "planner/base/status_macros.h"
#include "tools/cli/common/server_client.h"
#include "tools/cli/io/interrupt_guard.h"

namespace meshwright::cli {
namespace {

class GrpcPlanner final : public PlannerApi {
 public:
  GrpcPlanner(std::string server, const std::atomic<bool>& interrupted)
      : server_(std::move(server)), interrupted_(interrupted) {}

  absl::StatusOr<planner::RecommendAnswer> Recommend(const planner::PlanQuery& query) override {
    ASSIGN_OR_RETURN(const std::unique_ptr<v1::Planner::Stub> stub, Stub());
    v1::RecommendRequest request;
    *request.mutable_plan() = agent::ToWire(query);
    request.set_top(query.top);
    if (query.max_oom_probability) request.set_max_oom_probability(*query.max_oom_probability);
    request.set_offload(query.offload);
    request.set_where(query.where);
    request.set_objective(query.objective);
    request.set_pareto(query.pareto);
    request.set_best_per(query.best_per);
    if (query.time_limit_s) request.set_time_limit_s(*query.time_limit_s);
    request.set_mine(query.mine);
    grpc::ClientContext context;
    SetDeadline(context);
    const InterruptGuard guard(interrupted_, context);
    v1::RecommendResponse response;
    RETURN_IF_ERROR(CallStatus(stub->Recommend(&context, request, &response)));
    return agent::FromWire(response);
  }

  absl::StatusOr<planner::EstimateAnswer> Estimate(const planner::PlanQuery& query,
                                                   std::string_view layout) override {
    ASSIGN_OR_RETURN(const std::unique_ptr<v1::Planner::Stub> stub, Stub());
    v1::EstimateRequest request;
    *request.mutable_plan() = agent::ToWire(query);
    request.set_layout(std::string(layout));
    grpc::ClientContext context;
    SetDeadline(context);
    const InterruptGuard guard(interrupted_, context);
    v1::EstimateResponse response;
    RETURN_IF_ERROR(CallStatus(stub->Estimate(&context, request, &response)));
    return agent::FromWire(response);
  }

  absl::StatusOr<planner::CompareAnswer> Compare(const planner::PlanQuery& query,
                                                 const std::vector<std::string>& layouts) override {
    ASSIGN_OR_RETURN(const std::unique_ptr<v1::Planner::Stub> stub, Stub());
    v1::CompareRequest request;
    *request.mutable_plan() = agent::ToWire(query);
    request.mutable_layouts()->Add(layouts.begin(), layouts.end());
    grpc::ClientContext context;
    SetDeadline(context);
    const InterruptGuard guard(interrupted_, context);
    v1::CompareResponse response;
    RETURN_IF_ERROR(CallStatus(stub->Compare(&context, request, &response)));
    return agent::FromWire(response);
  }

  absl::StatusOr<planner::ScaleAnswer> Scale(const planner::ScaleQuery& query,
                                             const planner::ScaleProgress& /*progress*/) override {
    ASSIGN_OR_RETURN(const std::unique_ptr<v1::Planner::Stub> stub, Stub());
    const v1::ScaleRequest request = agent::ToWire(query);
    grpc::ClientContext context;
    SetDeadline(context);
    const InterruptGuard guard(interrupted_, context);
    v1::ScaleResponse response;
    RETURN_IF_ERROR(CallStatus(stub->Scale(&context, request, &response)));
    return agent::FromWire(response);
  }

  absl::StatusOr<planner::StudyAnswer> Study(const planner::PlanQuery& query,
                                             const planner::StudyProgress& /*progress*/) override {
    ASSIGN_OR_RETURN(const std::unique_ptr<v1::Planner::Stub> stub, Stub());
    v1::StudyRequest request;
    *request.mutable_plan() = agent::ToWire(query);
    request.set_where(query.where);
    grpc::ClientContext context;
    SetDeadline(context);
    const InterruptGuard guard(interrupted_, context);
    v1::StudyResponse response;
    RETURN_IF_ERROR(CallStatus(stub->Study(&context, request, &response)));
    return agent::FromWire(response);
  }

  absl::StatusOr<planner::FastestAnswer> Fastest(
      const planner::FastestQuery& query, const planner::ShortestProgress& /*progress*/) override {
    ASSIGN_OR_RETURN(const std::unique_ptr<v1::Planner::Stub> stub, Stub());
    const v1::FastestRequest request = agent::ToWire(query);
    grpc::ClientContext context;
    SetDeadline(context);
    const InterruptGuard guard(interrupted_, context);
    v1::FastestResponse response;
    RETURN_IF_ERROR(CallStatus(stub->Fastest(&context, request, &response)));
    return agent::FromWire(response);
  }

  absl::StatusOr<planner::FitAnswer> Fit(const planner::PlanQuery& query,
                                         std::string_view layout) override {
    ASSIGN_OR_RETURN(const std::unique_ptr<v1::Planner::Stub> stub, Stub());
    v1::FitRequest request;
    *request.mutable_plan() = agent::ToWire(query);
    request.set_layout(std::string(layout));
    if (query.max_oom_probability) request.set_max_oom_probability(*query.max_oom_probability);
    request.set_offload(query.offload);
    request.set_where(query.where);
    grpc::ClientContext context;
    SetDeadline(context);
    const InterruptGuard guard(interrupted_, context);
    v1::FitResponse response;
    RETURN_IF_ERROR(CallStatus(stub->Fit(&context, request, &response)));
    return agent::FromWire(response);
  }

  absl::StatusOr<planner::PresetNames> Presets() override {
    ASSIGN_OR_RETURN(const std::unique_ptr<v1::Planner::Stub> stub, Stub());
    grpc::ClientContext context;
    SetDeadline(context);
    v1::ListPresetsResponse response;
    RETURN_IF_ERROR(CallStatus(stub->ListPresets(&context, {}, &response)));
    return planner::PresetNames{{response.models().begin(), response.models().end()},
                                {response.clusters().begin(), response.clusters().end()},
                                {response.profiles().begin(), response.profiles().end()}};
  }

 private:
  absl::StatusOr<std::unique_ptr<v1::Planner::Stub>> Stub() const {
    ASSIGN_OR_RETURN(const std::shared_ptr<grpc::Channel> channel, ConnectTo(server_));
    return v1::Planner::NewStub(channel);
  }

  const std::string server_;
  const std::atomic<bool>& interrupted_;
};

}  // namespace

std::unique_ptr<PlannerApi> RemotePlanner(const std::string& server,
                                          const std::atomic<bool>& interrupted) {
  return std::make_unique<GrpcPlanner>(server, interrupted);
}

}  // namespace meshwright::cli
