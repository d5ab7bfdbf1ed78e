// meshwright.v1.Planner: answers from the planner in this process. Keeps no state.
#pragma once

#include <cstdint>

#include "meshwright/v1/planner.grpc.pb.h"

namespace meshwright {

class PlannerService final : public v1::Planner::CallbackService {
 public:
  explicit PlannerService(int32_t host_cores) : host_cores_(host_cores) {}

  grpc::ServerUnaryReactor* Recommend(grpc::CallbackServerContext* context,
                                      const v1::RecommendRequest* request,
                                      v1::RecommendResponse* response) override;
  grpc::ServerUnaryReactor* Estimate(grpc::CallbackServerContext* context,
                                     const v1::EstimateRequest* request,
                                     v1::EstimateResponse* response) override;
  grpc::ServerUnaryReactor* ListPresets(grpc::CallbackServerContext* context,
                                        const v1::ListPresetsRequest* request,
                                        v1::ListPresetsResponse* response) override;

 private:
  const int32_t host_cores_;
};

}  // namespace meshwright
