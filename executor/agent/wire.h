// The one place where protobuf messages become the planner's and executor's structs, and back.
//
// Reading checks what the structs can't hold (unknown names, malformed layouts) and answers
// InvalidArgument naming the field; whether the values make sense is for Validate() and Search().
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "executor/agent/attempt_key.h"
#include "executor/trial/trial.h"
#include "meshwright/v1/agents.pb.h"
#include "meshwright/v1/plan.pb.h"
#include "meshwright/v1/planner.pb.h"
#include "meshwright/v1/sweeps.pb.h"
#include "planner/catalog/plan_query.h"
#include "planner/report/answers.h"
#include "planner/report/explain.h"
#include "planner/search/search.h"

namespace meshwright {

// `default_framework` stands where the request names none. A request without a dtype gets bf16
// here; what is right depends on the cluster that the query resolves to.
absl::StatusOr<PlanQuery> FromWire(const v1::PlanRequest& request,
                                   std::string_view default_framework);
v1::PlanRequest ToWire(const PlanQuery& query);

v1::LayoutEstimate ToWire(const RankedLayout& ranked);
absl::StatusOr<RankedLayout> FromWire(const v1::LayoutEstimate& estimate);

// What binds follows from the estimate and is on the wire for those who read only that.
v1::Explanation ToWire(const RankedLayout& ranked, const Explanation& explanation);
absl::StatusOr<Explanation> FromWire(const v1::Explanation& explanation);

v1::RecommendResponse ToWire(const RecommendAnswer& answer);
absl::StatusOr<RecommendAnswer> FromWire(const v1::RecommendResponse& response);
v1::EstimateResponse ToWire(const EstimateAnswer& answer);
absl::StatusOr<EstimateAnswer> FromWire(const v1::EstimateResponse& response);

v1::Funnel ToWire(const Funnel& funnel);
Funnel FromWire(const v1::Funnel& funnel);

v1::Measurement ToWire(const TrialResult& result);
absl::StatusOr<TrialResult> FromWire(const v1::Measurement& measurement);

v1::AttemptRef ToWire(const AttemptKey& key);
absl::StatusOr<AttemptKey> FromWire(const v1::AttemptRef& ref);

google::protobuf::Timestamp ToWire(absl::Time time);
absl::Time FromWire(const google::protobuf::Timestamp& time);

}  // namespace meshwright
