#include "server/standby/follow_stream.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"
#include "server/calls/call_status.h"
#include "server/standby/sha256.h"

namespace meshwright::server {
namespace {

constexpr absl::Duration kPulse = absl::Seconds(1);
constexpr absl::Duration kPatience = absl::Milliseconds(200);
constexpr size_t kPartBytes = size_t{256} << 10;
constexpr size_t kMostStandbyNameBytes = 256;

absl::Status Gone() { return absl::CancelledError("the standby went away"); }

}  // namespace

FollowStream::FollowStream(FollowParts parts, StreamLease lease)
    : parts_(std::move(parts)), lease_(std::move(lease)) {
  StartRead(&incoming_);
}

FollowStream::~FollowStream() {
  // The thread has called Finish() as its last act, or was never started.
  if (!thread_.joinable()) return;
  thread_.get_id() == std::this_thread::get_id() ? thread_.detach() : thread_.join();
}

std::optional<absl::Status> FollowStream::Greet(const v1::FollowHello& hello) {
  if (hello.name().size() > kMostStandbyNameBytes) {
    return absl::InvalidArgumentError("hello.name: must have at most 256 bytes");
  }
  const v1::StoreEpoch& copy = hello.copy();
  const absl::Status status =
      parts_.authority->Hear({copy.store_id(), copy.epoch()}, copy.address());
  if (!status.ok() || hello.only_tells()) return status;
  return std::nullopt;
}

void FollowStream::OnReadDone(bool ok) {
  const bool greeted = thread_.joinable();
  if (!ok) {
    Close();
    if (!greeted) Finish(Reply(Gone()));
    return;
  }
  lease_.CountReceived(incoming_);
  if (greeted) {
    std::string log_id;
    {
      const std::lock_guard lock(mutex_);
      log_id = log_id_;
    }
    if (incoming_.has_ack()) {
      parts_.changes->Acknowledge(name_, {log_id, incoming_.ack().number()});
    }
    StartRead(&incoming_);
    return;
  }
  std::optional<absl::Status> over = Greet(incoming_.hello());
  if (!incoming_.has_hello()) {
    over = absl::FailedPreconditionError("the first message of a standby must be `hello`");
  }
  if (over) {
    Finish(Reply(*over));
    return;
  }
  name_ = incoming_.hello().name();
  thread_ = std::thread([this, hello = incoming_.hello()] { Run(hello); });
  StartRead(&incoming_);
}

void FollowStream::OnWriteDone(bool ok) {
  const std::lock_guard lock(mutex_);
  writing_ = false;
  if (!ok) closed_ = true;
  changed_.notify_all();
}

void FollowStream::OnCancel() { Close(); }

void FollowStream::OnDone() { delete this; }

void FollowStream::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

bool FollowStream::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

absl::Status FollowStream::Send(v1::FollowResponse message) {
  std::unique_lock lock(mutex_);
  if (closed_) return Gone();
  outgoing_ = std::move(message);
  writing_ = true;
  StartWrite(&outgoing_);
  changed_.wait(lock, [this] { return !writing_; });
  return closed_ ? Gone() : absl::OkStatus();
}

absl::Status FollowStream::Welcome(bool sends_snapshot) {
  v1::FollowResponse message;
  v1::FollowWelcome* welcome = message.mutable_welcome();
  welcome->mutable_store()->set_store_id(parts_.authority->own().id);
  welcome->mutable_store()->set_epoch(parts_.authority->own().epoch);
  welcome->set_sends_snapshot(sends_snapshot);
  return Send(std::move(message));
}

absl::StatusOr<db::CopyPlace> FollowStream::SendSnapshot() {
  RETURN_IF_ERROR(Welcome(/*sends_snapshot=*/true));
  ASSIGN_OR_RETURN(const ChangeLog::Snapshot snapshot, parts_.changes->TakeSnapshot());
  Sha256 digest;
  int64_t size = 0;
  std::string part(kPartBytes, '\0');
  while (true) {
    const ssize_t count = read(snapshot.file.get(), part.data(), part.size());
    if (count < 0) {
      return absl::UnavailableError(absl::StrCat("can't read a snapshot: ", std::strerror(errno)));
    }
    if (count == 0) break;
    v1::FollowResponse message;
    message.mutable_part()->set_data(part.data(), static_cast<size_t>(count));
    digest.Add(message.part().data());
    size += count;
    RETURN_IF_ERROR(Send(std::move(message)));
  }
  v1::FollowResponse message;
  message.mutable_end()->mutable_place()->set_log_id(snapshot.place.log_id);
  message.mutable_end()->mutable_place()->set_number(snapshot.place.number);
  message.mutable_end()->set_size_bytes(size);
  message.mutable_end()->set_sha256(digest.Hex());
  {
    const std::lock_guard lock(mutex_);
    log_id_ = snapshot.place.log_id;
  }
  RETURN_IF_ERROR(Send(std::move(message)));
  return snapshot.place;
}

absl::Status FollowStream::SendPulse() {
  RETURN_IF_ERROR(lease_.CheckStillCounts());
  v1::FollowResponse message;
  message.mutable_pulse()->set_number(parts_.changes->newest());
  for (const StandbyLag& lag : parts_.changes->Lags()) {
    if (lag.name == name_) message.mutable_pulse()->set_behind_bytes(lag.bytes);
  }
  return Send(std::move(message));
}

absl::Status FollowStream::Serve(const v1::FollowHello& hello) {
  db::CopyPlace place = {hello.place().log_id(), hello.place().number()};
  if (parts_.changes->Has(place)) {
    {
      const std::lock_guard lock(mutex_);
      log_id_ = place.log_id;
    }
    parts_.changes->Acknowledge(name_, place);
    RETURN_IF_ERROR(Welcome(/*sends_snapshot=*/false));
  } else {
    ASSIGN_OR_RETURN(place, SendSnapshot());
  }
  MonotonicTime next_pulse = MonotonicTime::Always();
  while (!closed()) {
    const auto next = parts_.changes->Next(place, kPatience);
    if (absl::IsOutOfRange(next.status())) {
      ASSIGN_OR_RETURN(place, SendSnapshot());
      continue;
    }
    RETURN_IF_ERROR(next.status());
    if (*next != nullptr) {
      v1::FollowResponse message;
      message.mutable_changes()->set_number((*next)->number);
      message.mutable_changes()->set_changes((*next)->changes);
      RETURN_IF_ERROR(Send(std::move(message)));
      place.number = (*next)->number;
    }
    if (parts_.clock() < next_pulse) continue;
    next_pulse = parts_.clock() + kPulse;
    RETURN_IF_ERROR(SendPulse());
  }
  return Gone();
}

void FollowStream::Run(v1::FollowHello hello) {
  parts_.changes->Connect(name_);
  if (parts_.log) {
    parts_.log({.message = absl::StrCat("standby ", name_, " follows this server")});
  }
  absl::Status status = Serve(hello);
  if (absl::IsCancelled(status) && !closed()) status = ServerStops();
  parts_.changes->Disconnect(name_);
  if (parts_.log) {
    parts_.log({.level = LogLevel::kWarning,
                .message = absl::StrCat("standby ", name_,
                                        " no longer follows this server: ", status.message())});
  }
  Finish(Reply(status));
}

}  // namespace meshwright::server
