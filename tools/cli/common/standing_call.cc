#include "tools/cli/common/standing_call.h"

#include <memory>

#include "base/text/status_macros.h"
#include "meshwright/v1/standby.grpc.pb.h"
#include "tools/cli/common/server_client.h"

namespace meshwright::cli {

absl::StatusOr<v1::GetStandingResponse> AskForStanding(const ServerFlags& server) {
  ASSIGN_OR_RETURN(const std::shared_ptr<grpc::Channel> channel, ConnectTo(server));
  const std::unique_ptr<v1::Standby::Stub> stub = v1::Standby::NewStub(channel);
  return Call(*stub, &v1::Standby::Stub::GetStanding, v1::GetStandingRequest());
}

}  // namespace meshwright::cli
