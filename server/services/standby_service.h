// StandbyService implements meshwright.v1.Standby: streams of standbys, takeovers, and who decides
// about the store. Takeovers and standings are answered even while the server is a standby.
#pragma once

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "meshwright/v1/standby.grpc.pb.h"
#include "server/calls/call_dispatcher.h"
#include "server/standby/follow_stream.h"
#include "server/standby/standing.h"

namespace meshwright::server {

// What a takeover came to.
struct TakenOver {
  int64_t epoch = 0;
  StandbyLag lag;  // when it took over
};

class StandbyService final : public v1::Standby::CallbackService {
 public:
  struct Hooks {
    // Takes over, for `actor`, which may be empty. It may block.
    std::function<absl::StatusOr<TakenOver>(const std::string& actor)> take_over;
    std::function<Standing()> standing;
    std::string version;  // the server's
    std::function<absl::Time()> clock;
  };

  // `dispatcher` must outlive the service. REQUIRES: the hooks may be called as soon as the server
  // listens.
  StandbyService(const CallDispatcher* dispatcher, Hooks hooks)
      : dispatcher_(dispatcher), hooks_(std::move(hooks)) {}
  // REQUIRES: called before calls are admitted; what `parts` points to outlives the service.
  void Begin(const FollowParts& parts) { parts_ = parts; }

  grpc::ServerBidiReactor<v1::FollowRequest, v1::FollowResponse>* Follow(
      grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* TakeOver(grpc::CallbackServerContext* context,
                                     const v1::TakeOverRequest* request,
                                     v1::TakeOverResponse* response) override;
  grpc::ServerUnaryReactor* GetStanding(grpc::CallbackServerContext* context,
                                        const v1::GetStandingRequest* request,
                                        v1::GetStandingResponse* response) override;

 private:
  const CallDispatcher* const dispatcher_;
  const Hooks hooks_;
  FollowParts parts_;
};

}  // namespace meshwright::server
