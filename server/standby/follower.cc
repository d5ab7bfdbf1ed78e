#include "server/standby/follower.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/system/unique_fd.h"
#include "base/text/status_macros.h"
#include "proto/rpc_status.h"
#include "server/standby/dial_server.h"
#include "server/standby/sha256.h"

namespace meshwright::server {
namespace {

constexpr std::chrono::seconds kRetryEvery(1);

absl::Status CantWrite(const std::string& path) {
  return absl::UnavailableError(absl::StrCat("can't write ", path, ": ", std::strerror(errno)));
}

}  // namespace

struct Follower::Received {
  UniqueFd file;
  Sha256 digest;
  int64_t size_bytes = 0;

  absl::Status Add(std::string_view data, const std::string& path) {
    digest.Add(data);
    size_bytes += static_cast<int64_t>(data.size());
    while (!data.empty()) {
      const ssize_t count = write(file.get(), data.data(), data.size());
      if (count < 0 && errno != EINTR) return CantWrite(path);
      if (count > 0) data.remove_prefix(static_cast<size_t>(count));
    }
    return absl::OkStatus();
  }
};

Follower::Follower(std::unique_ptr<db::StandbyCopy> copy, FollowerOptions options)
    : options_(std::move(options)), copy_(std::move(copy)), had_all_(options_.clock()) {
  standing_.is_standby = true;
  standing_.follows = options_.servers.front().address;
  standing_.lag = StandbyLag{.name = options_.name};
  NoteCopy();
  thread_ = std::thread([this] { Run(); });
}

Follower::~Follower() { Stop(); }

std::unique_ptr<db::StandbyCopy> Follower::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
    if (context_ != nullptr) context_->TryCancel();
  }
  wakes_.notify_all();
  if (thread_.joinable()) thread_.join();
  return std::move(copy_);
}

bool Follower::stops() const {
  const std::lock_guard lock(mutex_);
  return stops_;
}

Standing Follower::Now() const {
  const std::lock_guard lock(mutex_);
  Standing now = standing_;
  now.lag->transactions = std::max<int64_t>(newest_ - have_, 0);
  if (now.lag->transactions == 0) now.lag->bytes = 0;
  const bool has_all = now.lag->connected && now.lag->complete && now.lag->transactions == 0;
  if (!has_all) now.lag->time = options_.clock().since_start - had_all_.since_start;
  return now;
}

void Follower::NoteCopy() {
  const std::lock_guard lock(mutex_);
  standing_.store_id = copy_->identity().id;
  standing_.epoch = copy_->identity().epoch;
  standing_.lag->complete = copy_->complete();
  have_ = copy_->place().number;
  newest_ = std::max(newest_, have_);
  if (have_ == newest_) had_all_ = options_.clock();
}

void Follower::Run() {
  size_t next = 0;
  std::set<std::string> said;  // since a server was last followed
  while (!stops()) {
    const ServerAccess& server = options_.servers[next];
    const absl::Status status = Follow(server);
    bool followed = false;
    {
      const std::lock_guard lock(mutex_);
      context_ = nullptr;
      followed = std::exchange(standing_.lag->connected, false);
      if (stops_) return;
    }
    // A server that was followed is tried again first.
    if (!followed) next = (next + 1) % options_.servers.size();
    if (followed) said.clear();
    if (const std::string text = absl::StrCat(server.address, " (", status.message(), ")");
        options_.log && said.insert(text).second) {
      options_.log({.level = LogLevel::kWarning,
                    .message = absl::StrCat(
                        followed ? "lost the first server at " : "can't follow the server at ",
                        text, "; keeps trying")});
    }
    if (followed && absl::IsFailedPrecondition(status)) options_.failed(status);
    std::unique_lock lock(mutex_);
    wakes_.wait_for(lock, kRetryEvery, [this] { return stops_; });
  }
}

absl::Status Follower::Follow(const ServerAccess& server) {
  const std::unique_ptr<v1::Standby::Stub> stub = v1::Standby::NewStub(DialServer(server));
  grpc::ClientContext context;
  {
    const std::lock_guard lock(mutex_);
    if (stops_) return absl::OkStatus();
    context_ = &context;
    standing_.follows = server.address;
  }
  const std::unique_ptr<Stream> stream = stub->Follow(&context);
  v1::FollowRequest request;
  v1::FollowHello* hello = request.mutable_hello();
  hello->set_name(options_.name);
  hello->mutable_copy()->set_store_id(copy_->identity().id);
  hello->mutable_copy()->set_epoch(copy_->identity().epoch);
  hello->mutable_copy()->set_address(options_.address);
  if (!resync_) {
    hello->mutable_place()->set_log_id(copy_->place().log_id);
    hello->mutable_place()->set_number(copy_->place().number);
  }
  stream->Write(request);
  v1::FollowResponse message;
  absl::Status status;
  while (status.ok() && stream->Read(&message)) status = Handle(message, *stream);
  if (!status.ok()) context.TryCancel();
  while (stream->Read(&message)) {
  }
  const absl::Status ended = FromGrpcStatus(stream->Finish());
  received_.reset();
  {
    const std::lock_guard lock(mutex_);
    context_ = nullptr;
  }
  return status.ok() ? ended : status;
}

absl::Status Follower::Handle(const v1::FollowResponse& message, Stream& stream) {
  switch (message.message_case()) {
    case v1::FollowResponse::kWelcome: {
      const v1::StoreEpoch& store = message.welcome().store();
      {
        const std::lock_guard lock(mutex_);
        standing_.lag->connected = true;
      }
      RETURN_IF_ERROR(copy_->CheckMayFollow({store.store_id(), store.epoch()}));
      return message.welcome().sends_snapshot() ? BeginSnapshot() : absl::OkStatus();
    }
    case v1::FollowResponse::kPart:
      if (received_ == nullptr) return absl::InternalError("a part of no snapshot came");
      return received_->Add(message.part().data(), copy_->SnapshotPath());
    case v1::FollowResponse::kEnd:
      RETURN_IF_ERROR(EndSnapshot(message.end()));
      return Acknowledge(stream);
    case v1::FollowResponse::kChanges: {
      const absl::Status applied =
          copy_->Apply(message.changes().number(), message.changes().changes());
      if (absl::IsDataLoss(applied)) resync_ = true;
      RETURN_IF_ERROR(applied);
      return Acknowledge(stream);
    }
    case v1::FollowResponse::kPulse: {
      {
        const std::lock_guard lock(mutex_);
        newest_ = message.pulse().number();
        standing_.lag->bytes = message.pulse().behind_bytes();
      }
      NoteCopy();
      return absl::OkStatus();
    }
    default:
      return absl::OkStatus();  // of a newer server
  }
}

absl::Status Follower::BeginSnapshot() {
  received_ = std::make_unique<Received>();
  const std::string path = copy_->SnapshotPath();
  received_->file =
      UniqueFd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR));
  return received_->file.is_open() ? absl::OkStatus() : CantWrite(path);
}

absl::Status Follower::EndSnapshot(const v1::SnapshotEnd& end) {
  if (received_ == nullptr) return absl::InternalError("the end of no snapshot came");
  const std::unique_ptr<Received> received = std::move(received_);
  if (received->size_bytes != end.size_bytes() || received->digest.Hex() != end.sha256()) {
    return absl::DataLossError("the snapshot did not arrive as it was sent");
  }
  received->file.Close();
  RETURN_IF_ERROR(copy_->TakeSnapshot({end.place().log_id(), end.place().number()}));
  resync_ = false;
  {
    const std::lock_guard lock(mutex_);
    newest_ = end.place().number();
  }
  if (options_.log) {
    options_.log({.message = absl::StrCat("the copy is complete: a snapshot of ",
                                          received->size_bytes, " bytes")});
  }
  if (options_.renewed) options_.renewed();
  return absl::OkStatus();
}

absl::Status Follower::Acknowledge(Stream& stream) {
  NoteCopy();
  v1::FollowRequest request;
  request.mutable_ack()->set_number(copy_->place().number);
  stream.Write(request);  // if the stream is over, the next read says so
  return absl::OkStatus();
}

}  // namespace meshwright::server
