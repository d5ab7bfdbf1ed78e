// SweepsService implements meshwright.v1.Sweeps over the engine and the store.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "db/sweep_store.h"
#include "meshwright/v1/sweeps.grpc.pb.h"
#include "server/calls/call_dispatcher.h"
#include "server/sweeps/event_hub.h"
#include "server/sweeps/sweep_engine.h"
#include "server/sweeps/sweep_queries.h"

namespace meshwright::server {

// The objects and settings that the service uses. REQUIRES: the objects outlive the service.
struct SweepsServiceParts {
  db::SweepStore* store = nullptr;
  SweepEngine* engine = nullptr;
  EventHub* hub = nullptr;
  const std::atomic<bool>* stopping = nullptr;  // turns true when the server stops
  Clock clock;
  MonotonicClock monotonic_clock;
  absl::Duration heartbeat;  // as in WatchParts
  int32_t host_cores = 1;
  std::string version;  // of the planner
};

class SweepsService final : public v1::Sweeps::CallbackService {
 public:
  // `dispatcher` must outlive the service.
  explicit SweepsService(const CallDispatcher* dispatcher) : dispatcher_(dispatcher) {}
  // REQUIRES: called before calls are admitted.
  void Begin(SweepsServiceParts parts) {
    parts_ = std::move(parts);
    queries_ = SweepQueries(parts_.store);
  }

  grpc::ServerUnaryReactor* CreateSweep(grpc::CallbackServerContext* context,
                                        const v1::CreateSweepRequest* request,
                                        v1::Sweep* response) override;
  grpc::ServerUnaryReactor* GetSweep(grpc::CallbackServerContext* context,
                                     const v1::GetSweepRequest* request,
                                     v1::Sweep* response) override;
  grpc::ServerUnaryReactor* ListSweeps(grpc::CallbackServerContext* context,
                                       const v1::ListSweepsRequest* request,
                                       v1::ListSweepsResponse* response) override;
  grpc::ServerWriteReactor<v1::SweepEvent>* WatchSweep(
      grpc::CallbackServerContext* context, const v1::WatchSweepRequest* request) override;
  grpc::ServerUnaryReactor* GetSweepPlan(grpc::CallbackServerContext* context,
                                         const v1::GetSweepPlanRequest* request,
                                         v1::SweepPlan* response) override;
  grpc::ServerUnaryReactor* CancelSweep(grpc::CallbackServerContext* context,
                                        const v1::CancelSweepRequest* request,
                                        v1::Sweep* response) override;
  grpc::ServerUnaryReactor* RerunSweep(grpc::CallbackServerContext* context,
                                       const v1::RerunSweepRequest* request,
                                       v1::Sweep* response) override;
  grpc::ServerUnaryReactor* DeleteSweep(grpc::CallbackServerContext* context,
                                        const v1::DeleteSweepRequest* request,
                                        google::protobuf::Empty* response) override;
  grpc::ServerUnaryReactor* ListTrials(grpc::CallbackServerContext* context,
                                       const v1::ListTrialsRequest* request,
                                       v1::ListTrialsResponse* response) override;
  grpc::ServerUnaryReactor* GetTrial(grpc::CallbackServerContext* context,
                                     const v1::GetTrialRequest* request,
                                     v1::Trial* response) override;
  grpc::ServerUnaryReactor* AskTrial(grpc::CallbackServerContext* context,
                                     const v1::AskTrialRequest* request,
                                     v1::AskTrialResponse* response) override;
  grpc::ServerUnaryReactor* TellTrial(grpc::CallbackServerContext* context,
                                      const v1::TellTrialRequest* request,
                                      v1::TellTrialResponse* response) override;
  grpc::ServerUnaryReactor* ImportMeasurements(grpc::CallbackServerContext* context,
                                               const v1::ImportMeasurementsRequest* request,
                                               v1::ImportMeasurementsResponse* response) override;

 private:
  absl::Status Create(const v1::CreateSweepRequest& request, const planner::SearchRun& run,
                      const grpc::CallbackServerContext& context, v1::Sweep* response) const;
  absl::Status Import(const v1::ImportMeasurementsRequest& request, const planner::SearchRun& run,
                      const grpc::CallbackServerContext& context,
                      v1::ImportMeasurementsResponse* response) const;
  absl::Status Ask(const v1::AskTrialRequest& request, const grpc::CallbackServerContext& context,
                   v1::AskTrialResponse* response) const;
  absl::Status Tell(const v1::TellTrialRequest& request, const grpc::CallbackServerContext& context,
                    v1::TellTrialResponse* response) const;
  // Returns the attempt's trial in full.
  absl::StatusOr<v1::Trial> ReadTrial(const wire::AttemptKey& key) const;
  absl::Status Rerun(const v1::RerunSweepRequest& request,
                     const grpc::CallbackServerContext& context, v1::Sweep* response) const;

  const CallDispatcher* const dispatcher_;
  SweepsServiceParts parts_;
  SweepQueries queries_{nullptr};
};

}  // namespace meshwright::server
