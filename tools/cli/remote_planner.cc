#include "tools/cli/remote_planner.h"

#include "executor/agent/wire.h"
#include "meshwright/v1/planner.grpc.pb.h"
#include "planner/spec/status_macros.h"
#include "tools/cli/interrupt_guard.h"
#include "tools/cli/server_client.h"

namespace meshwright {
namespace {

class GrpcPlanner final : public PlannerApi {
 public:
  GrpcPlanner(std::string server, const std::atomic<bool>& interrupted)
      : server_(std::move(server)), interrupted_(interrupted) {}

  absl::StatusOr<RecommendAnswer> Recommend(const PlanQuery& query) override {
    ASSIGN_OR_RETURN(const std::unique_ptr<v1::Planner::Stub> stub, Stub());
    v1::RecommendRequest request;
    *request.mutable_plan() = ToWire(query);
    request.set_top(query.top);
    if (query.max_oom_probability) request.set_max_oom_probability(*query.max_oom_probability);
    grpc::ClientContext context;
    SetDeadline(context);
    const InterruptGuard guard(interrupted_, context);
    v1::RecommendResponse response;
    RETURN_IF_ERROR(CallStatus(stub->Recommend(&context, request, &response)));
    RecommendAnswer answer;
    answer.result.funnel = FromWire(response.funnel());
    for (const v1::LayoutEstimate& estimate : response.layouts()) {
      ASSIGN_OR_RETURN(answer.result.layouts.emplace_back(), FromWire(estimate));
    }
    for (const v1::LayoutEstimate& estimate : response.worth_a_trial()) {
      ASSIGN_OR_RETURN(answer.result.worth_a_trial.emplace_back(), FromWire(estimate));
    }
    if (response.has_nearest()) {
      ASSIGN_OR_RETURN(answer.result.nearest, FromWire(response.nearest()));
      answer.result.nearest_over_bytes = response.nearest_over_bytes();
    }
    answer.allowed_bytes = response.allowed_bytes();
    answer.notes.assign(response.notes().begin(), response.notes().end());
    return answer;
  }

  absl::StatusOr<EstimateAnswer> Estimate(const PlanQuery& query,
                                          std::string_view layout) override {
    ASSIGN_OR_RETURN(const std::unique_ptr<v1::Planner::Stub> stub, Stub());
    v1::EstimateRequest request;
    *request.mutable_plan() = ToWire(query);
    request.set_layout(std::string(layout));
    grpc::ClientContext context;
    SetDeadline(context);
    const InterruptGuard guard(interrupted_, context);
    v1::EstimateResponse response;
    RETURN_IF_ERROR(CallStatus(stub->Estimate(&context, request, &response)));
    ASSIGN_OR_RETURN(const RankedLayout ranked, FromWire(response.estimate()));
    ASSIGN_OR_RETURN(Explanation explanation, FromWire(response.explanation()));
    return EstimateAnswer{ranked.layout,
                          ranked.estimate,
                          response.allowed_bytes(),
                          {response.notes().begin(), response.notes().end()},
                          std::move(explanation)};
  }

  absl::StatusOr<PresetNames> Presets() override {
    ASSIGN_OR_RETURN(const std::unique_ptr<v1::Planner::Stub> stub, Stub());
    grpc::ClientContext context;
    SetDeadline(context);
    v1::ListPresetsResponse response;
    RETURN_IF_ERROR(CallStatus(stub->ListPresets(&context, {}, &response)));
    return PresetNames{{response.models().begin(), response.models().end()},
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

}  // namespace meshwright
