// The functions QueryOf() read the planner's questions from their messages. Each returns
// InvalidArgument with the field that can't be read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "google/protobuf/message.h"
#include "meshwright/v1/planner.pb.h"
#include "planner/drawing/picture_origin.h"
#include "planner/report/fastest_report.h"
#include "planner/report/scale_report.h"

namespace meshwright::server {

// The framework of questions that name none.
inline constexpr char kDefaultFramework[] = "megatron";

absl::StatusOr<planner::PlanQuery> QueryOf(const v1::CompareRequest& request, int32_t host_cores);
absl::StatusOr<planner::ScaleQuery> QueryOf(const v1::ScaleRequest& request, int32_t host_cores);
absl::StatusOr<planner::PlanQuery> QueryOf(const v1::StudyRequest& request, int32_t host_cores);
absl::StatusOr<planner::FastestQuery> QueryOf(const v1::FastestRequest& request,
                                              int32_t host_cores);
absl::StatusOr<planner::PlanQuery> QueryOf(const v1::FitRequest& request, int32_t host_cores);

// Returns the origin of a picture of the question that is drawn `now` by a call of this method of
// Planner. The command is a line for the server's HTTP address, such as
// "POST /meshwright.v1.Planner/Draw {...}".
planner::PictureOrigin OriginOf(std::string question, std::string_view method,
                                const google::protobuf::Message& request, absl::Time now);

}  // namespace meshwright::server
