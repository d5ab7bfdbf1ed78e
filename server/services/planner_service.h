// PlannerService implements meshwright.v1.Planner with the planner in this process. It keeps no
// state.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "absl/time/time.h"
#include "base/system/monotonic_time.h"
#include "meshwright/v1/planner.grpc.pb.h"
#include "planner/report/answers.h"
#include "server/calls/call_dispatcher.h"

namespace meshwright::server {

// Has the contract of AnswerRecommend().
using Recommender = std::function<absl::StatusOr<planner::RecommendAnswer>(
    const planner::PlanQuery& query, int32_t host_cores, const planner::SearchRun& run)>;

class PlannerService final : public v1::Planner::CallbackService {
 public:
  // `dispatcher` must outlive the service.
  PlannerService(const CallDispatcher* dispatcher, int32_t host_cores, Recommender recommend,
                 MonotonicClock now, std::function<absl::Time()> clock)
      : dispatcher_(dispatcher),
        host_cores_(host_cores),
        recommend_(std::move(recommend)),
        now_(std::move(now)),
        clock_(std::move(clock)) {}

  grpc::ServerUnaryReactor* Recommend(grpc::CallbackServerContext* context,
                                      const v1::RecommendRequest* request,
                                      v1::RecommendResponse* response) override;
  grpc::ServerUnaryReactor* Estimate(grpc::CallbackServerContext* context,
                                     const v1::EstimateRequest* request,
                                     v1::EstimateResponse* response) override;
  grpc::ServerUnaryReactor* Compare(grpc::CallbackServerContext* context,
                                    const v1::CompareRequest* request,
                                    v1::CompareResponse* response) override;
  grpc::ServerUnaryReactor* Scale(grpc::CallbackServerContext* context,
                                  const v1::ScaleRequest* request,
                                  v1::ScaleResponse* response) override;
  grpc::ServerUnaryReactor* Study(grpc::CallbackServerContext* context,
                                  const v1::StudyRequest* request,
                                  v1::StudyResponse* response) override;
  grpc::ServerUnaryReactor* Fastest(grpc::CallbackServerContext* context,
                                    const v1::FastestRequest* request,
                                    v1::FastestResponse* response) override;
  grpc::ServerUnaryReactor* Fit(grpc::CallbackServerContext* context, const v1::FitRequest* request,
                                v1::FitResponse* response) override;
  grpc::ServerWriteReactor<v1::AskResponse>* Ask(grpc::CallbackServerContext* context,
                                                 const v1::AskRequest* request) override;
  grpc::ServerUnaryReactor* ListPresets(grpc::CallbackServerContext* context,
                                        const v1::ListPresetsRequest* request,
                                        v1::ListPresetsResponse* response) override;
  grpc::ServerUnaryReactor* Export(grpc::CallbackServerContext* context,
                                   const v1::ExportRequest* request,
                                   v1::ExportResponse* response) override;
  grpc::ServerUnaryReactor* Import(grpc::CallbackServerContext* context,
                                   const v1::ImportRequest* request,
                                   v1::ImportResponse* response) override;
  grpc::ServerUnaryReactor* Schedule(grpc::CallbackServerContext* context,
                                     const v1::ScheduleRequest* request,
                                     v1::ScheduleResponse* response) override;
  grpc::ServerUnaryReactor* Draw(grpc::CallbackServerContext* context,
                                 const v1::DrawRequest* request,
                                 v1::DrawResponse* response) override;
  grpc::ServerUnaryReactor* DescribeConditions(grpc::CallbackServerContext* context,
                                               const v1::DescribeConditionsRequest* request,
                                               v1::DescribeConditionsResponse* response) override;

 private:
  // Reports that `done` of `of` parts of a search are done. `gpus` is the number of devices for
  // which layouts are searched now; it is 0 unless the search covers several numbers of devices.
  using Teller = std::function<void(int64_t done, int64_t of, int64_t gpus)>;
  absl::Status Find(const v1::AskRequest& request, planner::SearchRun run, const Teller& tell,
                    v1::AskResponse* response) const;

  const CallDispatcher* const dispatcher_;
  const int32_t host_cores_;
  const Recommender recommend_;
  const MonotonicClock now_;
  const std::function<absl::Time()> clock_;  // for the date of pictures
};

}  // namespace meshwright::server
