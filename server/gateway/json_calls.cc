#include "server/gateway/json_calls.h"

#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text/string_view.h"
#include "grpcpp/client_context.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/client_callback.h"
#include "server/calls/call_status.h"
#include "server/gateway/error_answer.h"
#include "server/gateway/json_message.h"

namespace meshwright::server {
namespace {

using google::protobuf::MethodDescriptor;

constexpr int32_t kConverterThreads = 2;

grpc::ByteBuffer BufferOf(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

std::string BytesOf(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (!buffer.Dump(&slices).ok()) return bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

std::string PathOf(const MethodDescriptor& method) {
  return absl::StrCat("/", method.service()->full_name(), "/", method.name());
}

std::string EventOf(std::string_view kind, const std::string& data) {
  return absl::StrCat("event: ", AbslView(kind), "\ndata: ", data, "\n\n");
}

}  // namespace

// A call that exists, and what every call has.
class JsonCalls::Active {
 public:
  Active(JsonCalls* calls, JsonCall call, std::shared_ptr<HttpExchange> exchange)
      : calls_(calls), call_(std::move(call)), exchange_(std::move(exchange)) {
    const absl::MutexLock lock(&calls_->mutex_);
    ++calls_->active_;
  }
  ~Active() {
    introduction_.reset();
    const absl::MutexLock lock(&calls_->mutex_);
    --calls_->active_;
  }
  Active(const Active&) = delete;
  Active& operator=(const Active&) = delete;

  // Reads the request and tells the services who calls.
  absl::Status Prepare() {
    absl::StatusOr<std::string> bytes = BinaryOfJson(*call_.method->input_type(), call_.body);
    if (!bytes.ok()) return bytes.status();
    request_ = BufferOf(*bytes);
    call_.body.clear();
    if (!call_.caller) return absl::OkStatus();
    absl::StatusOr<std::unique_ptr<Access::Introduction>> introduced =
        calls_->access_->Introduce(*call_.caller);
    if (!introduced.ok()) return introduced.status();
    introduction_ = *std::move(introduced);
    context_.AddMetadata(kIntroduction, introduction_->secret());
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Json(const grpc::ByteBuffer& message) const {
    return JsonOfBinary(*call_.method->output_type(), BytesOf(message));
  }

  JsonCalls* const calls_;
  JsonCall call_;
  const std::shared_ptr<HttpExchange> exchange_;
  grpc::ClientContext context_;
  grpc::ByteBuffer request_;

 private:
  std::unique_ptr<Access::Introduction> introduction_;
};

class JsonCalls::Unary : public std::enable_shared_from_this<Unary> {
 public:
  Unary(JsonCalls* calls, JsonCall call, std::shared_ptr<HttpExchange> exchange)
      : active_(calls, std::move(call), std::move(exchange)), stub_(calls->channel_) {}

  void Cancel() { active_.context_.TryCancel(); }

  void Start() {
    if (const absl::Status status = active_.Prepare(); !status.ok()) {
      active_.exchange_->Answer(ErrorAnswer(status));
      return;
    }
    stub_.UnaryCall(&active_.context_, PathOf(*active_.call_.method), {}, &active_.request_,
                    &response_, [self = shared_from_this()](const grpc::Status& status) {
                      self->active_.calls_->Convert([self, status] { self->End(status); });
                    });
  }

 private:
  void End(const grpc::Status& status) {
    if (!status.ok()) return active_.exchange_->Answer(ErrorAnswer(status));
    absl::StatusOr<std::string> json = active_.Json(response_);
    if (!json.ok()) return active_.exchange_->Answer(ErrorAnswer(json.status()));
    active_.exchange_->Answer({.content_type = "application/json", .body = *std::move(json)});
  }

  Active active_;
  grpc::GenericStub stub_;
  grpc::ByteBuffer response_;
};

// The next message is read once the peer's system has taken the one before, so that a slow peer
// holds up the service and not this program's memory.
class JsonCalls::Stream : public std::enable_shared_from_this<Stream>,
                          public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  Stream(JsonCalls* calls, JsonCall call, std::shared_ptr<HttpExchange> exchange)
      : active_(calls, std::move(call), std::move(exchange)), stub_(calls->channel_) {}

  // The peer is gone: on the exchange's thread.
  void Cancel() {
    active_.context_.TryCancel();
    bool was_sending = false;
    {
      const absl::MutexLock lock(&mutex_);
      is_gone_ = true;
      was_sending = std::exchange(is_sending_, false);
    }
    if (was_sending) RemoveHold();
  }

  void Start() {
    if (const absl::Status status = active_.Prepare(); !status.ok()) {
      active_.exchange_->Answer(ErrorAnswer(status));
      return;
    }
    active_.exchange_->BeginStream({.content_type = "text/event-stream"},
                                   active_.calls_->stream_interval_, [weak = weak_from_this()] {
                                     if (const auto self = weak.lock()) self->Look();
                                   });
    self_ = shared_from_this();
    stub_.PrepareBidiStreamingCall(&active_.context_, PathOf(*active_.call_.method), {}, this);
    AddHold();  // for the reads, which begin on other threads
    StartRead(&message_);
    StartWriteLast(&active_.request_, {});
    StartCall();
  }

  void OnReadDone(bool ok) override {
    if (!ok) return RemoveHold();
    active_.calls_->Convert([self = shared_from_this()] { self->Deliver(); });
  }

  void OnDone(const grpc::Status& status) override {
    active_.calls_->Convert([self = std::move(self_), status] { self->End(status); });
  }

 private:
  // Sends a comment, or ends the stream of a caller who may read no more.
  void Look() {
    absl::Status status =
        active_.call_.still_counts ? active_.call_.still_counts() : absl::OkStatus();
    if (status.ok()) return active_.exchange_->Send(": \n\n", {});
    {
      const absl::MutexLock lock(&mutex_);
      failed_ = std::move(status);
    }
    active_.context_.TryCancel();
  }

  void Deliver() {
    const absl::StatusOr<std::string> json = active_.Json(message_);
    bool sends = false;
    {
      const absl::MutexLock lock(&mutex_);
      if (!json.ok()) failed_ = json.status();
      sends = json.ok() && !is_gone_;
      is_sending_ = sends;
    }
    if (!sends) {
      active_.context_.TryCancel();
      return RemoveHold();
    }
    active_.exchange_->Send(EventOf("message", *json), [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->OnSent();
    });
  }

  void OnSent() {
    {
      const absl::MutexLock lock(&mutex_);
      if (!std::exchange(is_sending_, false)) return;  // Cancel() came first
    }
    StartRead(&message_);
  }

  void End(const grpc::Status& status) {
    absl::Status failed;
    {
      const absl::MutexLock lock(&mutex_);
      failed = failed_;
    }
    active_.exchange_->Send(EventOf("status", ErrorJson(failed.ok() ? status : Reply(failed))), {});
    active_.exchange_->EndStream();
  }

  Active active_;
  grpc::GenericStub stub_;
  grpc::ByteBuffer message_;
  std::shared_ptr<Stream> self_;  // until OnDone()
  absl::Mutex mutex_;
  bool is_gone_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_sending_ ABSL_GUARDED_BY(mutex_) = false;  // a message, of which OnSent() will tell
  absl::Status failed_ ABSL_GUARDED_BY(mutex_);
};

JsonCalls::JsonCalls(std::shared_ptr<grpc::Channel> channel, const Access* access,
                     absl::Duration stream_interval)
    : channel_(std::move(channel)),
      access_(access),
      stream_interval_(stream_interval),
      converters_(kConverterThreads, [](std::function<void()> work, size_t /*running*/) {
        work();
        return std::function<void()>();
      }) {}

JsonCalls::~JsonCalls() {
  const absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(this, &JsonCalls::IsIdle));
}

void JsonCalls::Convert(std::function<void()> work) { converters_.Offer(work); }

void JsonCalls::Begin(JsonCall call, const std::shared_ptr<HttpExchange>& exchange) {
  const auto begin = [&](auto made) {
    exchange->OnGone([weak = std::weak_ptr(made)] {
      if (const auto self = weak.lock()) self->Cancel();
    });
    Convert([made] { made->Start(); });
  };
  if (call.method->server_streaming()) {
    begin(std::make_shared<Stream>(this, std::move(call), exchange));
  } else {
    begin(std::make_shared<Unary>(this, std::move(call), exchange));
  }
}

}  // namespace meshwright::server
