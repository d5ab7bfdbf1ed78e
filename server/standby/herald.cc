#include "server/standby/herald.h"

#include <chrono>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "meshwright/v1/standby.grpc.pb.h"
#include "server/standby/dial_server.h"

namespace meshwright::server {
namespace {

constexpr std::chrono::seconds kDeadline(1);
constexpr std::chrono::seconds kEvery(1);

}  // namespace

Herald::Herald(std::vector<ServerAccess> servers, db::StoreIdentity own, std::string address,
               LogFunction log)
    : servers_(std::move(servers)),
      own_(std::move(own)),
      address_(std::move(address)),
      log_(std::move(log)) {
  for (const ServerAccess& server : servers_) Tell(server);
  thread_ = std::thread([this] { Run(); });
}

Herald::~Herald() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  stop_.notify_all();
  thread_.join();
}

void Herald::Tell(const ServerAccess& server) {
  const std::unique_ptr<v1::Standby::Stub> stub = v1::Standby::NewStub(DialServer(server));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kDeadline);
  const auto stream = stub->Follow(&context);
  v1::FollowRequest request;
  v1::FollowHello* hello = request.mutable_hello();
  hello->set_name(address_);
  hello->set_only_tells(true);
  hello->mutable_copy()->set_store_id(own_.id);
  hello->mutable_copy()->set_epoch(own_.epoch);
  hello->mutable_copy()->set_address(address_);
  stream->Write(request);
  v1::FollowResponse response;
  while (stream->Read(&response)) {
  }
  const grpc::Status status = stream->Finish();
  if (status.error_code() == grpc::StatusCode::FAILED_PRECONDITION && log_) {
    log_({.message = absl::StrCat("told the server at ", server.address,
                                  " that it no longer decides about the store")});
  }
}

void Herald::Run() {
  std::unique_lock lock(mutex_);
  while (!stop_.wait_for(lock, kEvery, [this] { return stops_; })) {
    lock.unlock();
    for (const ServerAccess& server : servers_) Tell(server);
    lock.lock();
  }
}

}  // namespace meshwright::server
