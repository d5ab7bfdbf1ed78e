#include "tools/cli/remote_planner.h"

#include "executor/agent/wire.h"
#include "meshwright/v1/planner.grpc.pb.h"
#include "planner/spec/status_macros.h"
#include "tools/cli/server_client.h"

namespace meshwright {
namespace {

class GrpcPlanner final : public PlannerApi {
 public:
  explicit GrpcPlanner(std::string server) : server_(std::move(server)) {}

  absl::StatusOr<RecommendAnswer> Recommend(const PlanQuery& query) override {
    ASSIGN_OR_RETURN(const std::unique_ptr<v1::Planner::Stub> stub, Stub());
    v1::RecommendRequest request;
    *request.mutable_plan() = ToWire(query);
    request.set_top(query.top);
    if (query.max_oom_probability) request.set_max_oom_probability(*query.max_oom_probability);
    request.set_mine(query.mine);
    grpc::ClientContext context;
    SetDeadline(context);
    v1::RecommendResponse response;
    RETURN_IF_ERROR(CallStatus(stub->Recommend(&context, request, &response)));
    return FromWire(response);
  }

  absl::StatusOr<EstimateAnswer> Estimate(const PlanQuery& query,
                                          std::string_view layout) override {
    ASSIGN_OR_RETURN(const std::unique_ptr<v1::Planner::Stub> stub, Stub());
    v1::EstimateRequest request;
    *request.mutable_plan() = ToWire(query);
    request.set_layout(std::string(layout));
    grpc::ClientContext context;
    SetDeadline(context);
    v1::EstimateResponse response;
    RETURN_IF_ERROR(CallStatus(stub->Estimate(&context, request, &response)));
    return FromWire(response);
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
};

}  // namespace

std::unique_ptr<PlannerApi> RemotePlanner(const std::string& server) {
  return std::make_unique<GrpcPlanner>(server);
}

}  // namespace meshwright
