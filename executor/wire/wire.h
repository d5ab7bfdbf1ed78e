// FromWire() and ToWire() convert protobuf messages to structs of the planner and the executor, and
// back. All such conversions are here.
//
// A message with the same fields as a struct is converted field by field
// (executor/wire/message_codec.h). Requests, resource names and times have forms of their own and
// are converted by hand. A request to plan may leave out fields of a query, and the service chooses
// their defaults.
//
// FromWire() returns InvalidArgument, which names the field, for text that has no value in the
// struct (an unknown name, a malformed layout). It does not check the values; Validate() and
// Search() do.
// Text from workers and hosts is written as valid UTF-8, so that no message is lost because of one
// bad byte.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "executor/trial/trial.h"
#include "executor/wire/attempt_key.h"
#include "executor/wire/runner_offer.h"
#include "meshwright/v1/agents.pb.h"
#include "meshwright/v1/plan.pb.h"
#include "meshwright/v1/planner.pb.h"
#include "meshwright/v1/sweeps.pb.h"
#include "planner/catalog/plan_query.h"
#include "planner/report/answers.h"
#include "planner/report/comparison.h"
#include "planner/report/explain.h"
#include "planner/report/fastest_report.h"
#include "planner/report/limits_report.h"
#include "planner/report/scale_report.h"
#include "planner/report/study_report.h"
#include "planner/search/search.h"

namespace meshwright::wire {

// Reads a request to plan. If the request names no framework, the query gets `default_framework`.
// If it names no dtype, the query gets bf16, and the caller replaces bf16 on clusters with another
// default. Refuses a request whose dtype is a string, as older clients sent it.
absl::StatusOr<planner::PlanQuery> FromWire(const v1::PlanRequest& request,
                                            std::string_view default_framework);
v1::PlanRequest ToWire(const planner::PlanQuery& query);

v1::LayoutEstimate ToWire(const planner::RankedLayout& ranked);
absl::StatusOr<planner::RankedLayout> FromWire(const v1::LayoutEstimate& estimate);

// The message also names the largest part of memory and, besides compute, of step time
// (planner::Binding). They follow from the estimate, but some clients read only this message.
v1::Explanation ToWire(const planner::RankedLayout& ranked,
                       const planner::Explanation& explanation);
absl::StatusOr<planner::Explanation> FromWire(const v1::Explanation& explanation);

v1::RecommendResponse ToWire(const planner::RecommendAnswer& answer);
absl::StatusOr<planner::RecommendAnswer> FromWire(const v1::RecommendResponse& response);
v1::EstimateResponse ToWire(const planner::EstimateAnswer& answer);
absl::StatusOr<planner::EstimateAnswer> FromWire(const v1::EstimateResponse& response);

v1::CompareResponse ToWire(const planner::CompareAnswer& answer);
absl::StatusOr<planner::CompareAnswer> FromWire(const v1::CompareResponse& response);
v1::ScaleRequest ToWire(const planner::ScaleQuery& query);
// Reads every field but the plan, which services read with their own defaults.
void ReadScale(const v1::ScaleRequest& request, planner::ScaleQuery& query);
v1::ScaleResponse ToWire(const planner::ScaleAnswer& answer);
absl::StatusOr<planner::ScaleAnswer> FromWire(const v1::ScaleResponse& response);

v1::FastestRequest ToWire(const planner::FastestQuery& query);
// Reads every field but the plan, which services read with their own defaults.
void ReadFastest(const v1::FastestRequest& request, planner::FastestQuery& query);
v1::FastestResponse ToWire(const planner::FastestAnswer& answer);
absl::StatusOr<planner::FastestAnswer> FromWire(const v1::FastestResponse& response);

v1::FitResponse ToWire(const planner::FitAnswer& answer);
absl::StatusOr<planner::FitAnswer> FromWire(const v1::FitResponse& response);

v1::StudyResponse ToWire(const planner::StudyAnswer& answer);
absl::StatusOr<planner::StudyAnswer> FromWire(const v1::StudyResponse& response);

v1::Funnel ToWire(const planner::Funnel& funnel);
planner::Funnel FromWire(const v1::Funnel& funnel);

v1::Measurement ToWire(const trial::TrialResult& result);
absl::StatusOr<trial::TrialResult> FromWire(const v1::Measurement& measurement);

v1::AttemptRef ToWire(const AttemptKey& key);
absl::StatusOr<AttemptKey> FromWire(const v1::AttemptRef& ref);

google::protobuf::Timestamp ToWire(absl::Time time);
absl::Time FromWire(const google::protobuf::Timestamp& time);

v1::RunnerOffer ToWire(const RunnerOffer& offer);
// Returns InvalidArgument, which names the field, if the name or the hash is malformed.
absl::StatusOr<RunnerOffer> FromWire(const v1::RunnerOffer& offer);

}  // namespace meshwright::wire
