#include "server/http/http_connection.h"

#include <algorithm>
#include <exception>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "boost/asio/post.hpp"
#include "boost/beast/http/status.hpp"

namespace meshwright::server {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

constexpr size_t kChunkBytes = size_t{16} << 10;
constexpr size_t kWriteBytes = size_t{64} << 10;
constexpr uint64_t kBodyBytesPerS = uint64_t{64} << 10;
constexpr char kContinue[] = "HTTP/1.1 100 Continue\r\n\r\n";

HttpResponse InternalError(const std::exception& error) {
  return {.status = 500, .body = absl::StrCat("internal error: ", error.what(), "\n")};
}

std::string_view ReasonOf(int status) {
  if (status == 499) return "Client Closed Request";  // a number of widespread use, in no standard
  const auto reason = http::obsolete_reason(http::int_to_status(static_cast<unsigned>(status)));
  return {reason.data(), reason.size()};
}

// Returns the head of an answer up to its empty line. `framing` says how the peer finds the end.
std::string HeadOf(const HttpResponse& response, const std::vector<HttpField>& fields,
                   const std::string& framing) {
  const std::string_view reason = ReasonOf(response.status);
  std::string head = absl::StrCat("HTTP/1.1 ", response.status, " ",
                                  absl::string_view(reason.data(), reason.size()), "\r\n");
  if (!response.content_type.empty()) {
    absl::StrAppend(&head, "Content-Type: ", response.content_type, "\r\n");
  }
  const auto append = [&head](const HttpField& field) {
    absl::StrAppend(&head, field.name, ": ", field.value, "\r\n");
  };
  std::for_each(response.fields.begin(), response.fields.end(), append);
  for (const HttpField& field : fields) {
    const bool is_there =
        std::any_of(response.fields.begin(), response.fields.end(),
                    [&](const HttpField& other) { return other.name == field.name; });
    if (!is_there) append(field);
  }
  return absl::StrCat(head, framing, "\r\n");
}

std::string ConnectionField(bool keeps_alive, bool is_http_1_0) {
  if (!keeps_alive) return "Connection: close\r\n";
  return is_http_1_0 ? "Connection: keep-alive\r\n" : "";
}

std::string ChunkOf(const std::string& bytes) {
  return absl::StrCat(absl::Hex(bytes.size()), "\r\n", bytes, "\r\n");
}

std::chrono::nanoseconds Nanoseconds(absl::Duration time) {
  return std::chrono::nanoseconds(absl::ToInt64Nanoseconds(time));
}

// Passes calls on to the connection's thread.
class Exchange final : public HttpExchange {
 public:
  Exchange(std::shared_ptr<HttpLoop> loop, const HttpConnection::Self& connection, uint64_t number)
      : loop_(std::move(loop)), connection_(connection), number_(number) {}

  void Answer(HttpResponse response) override {
    Post([number = number_, response = std::move(response)](HttpConnection& to) mutable {
      to.Answer(number, std::move(response));
    });
  }
  void BeginStream(HttpResponse head, absl::Duration interval, Callback tick) override {
    Post([number = number_, head = std::move(head), interval,
          tick = std::move(tick)](HttpConnection& to) mutable {
      to.BeginStream(number, std::move(head), Nanoseconds(interval), std::move(tick));
    });
  }
  void Send(std::string bytes, Callback sent) override {
    Post([number = number_, bytes = std::move(bytes), sent = std::move(sent)](
             HttpConnection& to) mutable { to.Send(number, std::move(bytes), std::move(sent)); });
  }
  void EndStream() override {
    Post([number = number_](HttpConnection& to) { to.EndStream(number); });
  }
  void OnGone(Callback gone) override {
    if (const auto connection = connection_.lock()) connection->OnGone(std::move(gone));
  }

 private:
  template <typename Call>
  void Post(Call call) {
    asio::post(loop_->context, [connection = connection_, call = std::move(call)]() mutable {
      if (const auto to = connection.lock()) call(*to);
    });
  }

  const std::shared_ptr<HttpLoop> loop_;
  const std::weak_ptr<HttpConnection> connection_;
  const uint64_t number_;
};

}  // namespace

HttpConnection::HttpConnection(HttpLoop* loop, std::unique_ptr<HttpTransport> transport)
    : loop_(loop),
      transport_(std::move(transport)),
      chunk_(kChunkBytes),
      read_deadline_(loop->context),
      tick_timer_(loop->context),
      write_deadline_(loop->context) {}

void HttpConnection::Begin(HttpLoop::List::iterator place) {
  place_ = place;
  Arm(read_deadline_, Nanoseconds(loop_->limits.patience));
  transport_->Handshake([self = shared_from_this()](const error_code& error, size_t /*bytes*/) {
    if (self->has_left_) return;
    if (error) return self->Leave();
    self->facts_ = self->transport_->Facts();
    self->AwaitRequest();
  });
}

void HttpConnection::AwaitRequest() {
  if (state_ == State::kHandling) {
    loop_->waiting.splice(loop_->waiting.end(), loop_->working, place_);
  } else {
    loop_->waiting.splice(loop_->waiting.end(), loop_->waiting, place_);
  }
  state_ = State::kReading;
  is_finished_ = false;
  ++number_;
  reader_.emplace(loop_->limits.header_bytes);
  Arm(read_deadline_, Nanoseconds(loop_->limits.patience));
  Parse();
}

void HttpConnection::Parse() {
  while (true) {
    size_t used = 0;
    const RequestReader::Progress progress = reader_->Take(buffer_, used);
    buffer_.erase(0, used);
    switch (progress) {
      case RequestReader::Progress::kNeedsMore:
        return ReadMore();
      case RequestReader::Progress::kRefused:
        return Refuse(reader_->refusal(), /*keep=*/false);
      case RequestReader::Progress::kHead:
        if (!Admit()) return;
        break;
      case RequestReader::Progress::kWhole:
        return Handle();
    }
  }
}

bool HttpConnection::Admit() {
  HttpRequest& head = reader_->request();
  head.connection = facts_;
  is_http_1_0_ = reader_->is_http_1_0();
  is_head_ = head.method == "HEAD";
  HttpAdmission admission = loop_->limits.body_bytes;
  if (loop_->service.admit) {
    try {
      admission = loop_->service.admit(head);
    } catch (const std::exception& error) {
      admission = InternalError(error);
    }
  }
  const uint64_t body_bytes = reader_->body_bytes();
  const bool keep = reader_->keeps_alive() && body_bytes == 0;
  if (const auto* refusal = std::get_if<HttpResponse>(&admission)) {
    Refuse(*refusal, keep);
    return false;
  }
  const uint64_t most_bytes = std::min(std::get<uint64_t>(admission), loop_->limits.body_bytes);
  if (body_bytes > most_bytes) {
    Refuse({.status = 413,
            .body = absl::StrCat("the request's body has ", body_bytes, " bytes; it must have at ",
                                 "most ", most_bytes, "\n")},
           /*keep=*/false);
    return false;
  }
  if (loop_->body_bytes + body_bytes > loop_->limits.total_body_bytes) {
    Refuse({.status = 503,
            .body = absl::StrCat("the server is reading ", loop_->body_bytes,
                                 " bytes of other requests' bodies: try again later\n")},
           /*keep=*/false);
    return false;
  }
  held_body_bytes_ = body_bytes;
  loop_->body_bytes += body_bytes;
  if (body_bytes > 0) {
    Arm(read_deadline_,
        Nanoseconds(loop_->limits.patience) + std::chrono::seconds(body_bytes / kBodyBytesPerS));
    if (reader_->awaits_continue() && buffer_.empty()) Write(kContinue, {});
  }
  reader_->AllowBody();
  return true;
}

void HttpConnection::Refuse(const HttpResponse& response, bool keep) {
  loop_->working.splice(loop_->working.end(), loop_->waiting, place_);
  state_ = State::kHandling;
  Disarm(read_deadline_);
  keeps_alive_ = keep;
  Answer(number_, response);
}

void HttpConnection::Handle() {
  loop_->working.splice(loop_->working.end(), loop_->waiting, place_);
  state_ = State::kHandling;
  Disarm(read_deadline_);
  keeps_alive_ = reader_->keeps_alive();
  HttpRequest request = std::move(reader_->request());
  ReadMore();
  const auto exchange =
      std::make_shared<Exchange>(loop_->shared_from_this(), shared_from_this(), number_);
  try {
    loop_->service.handle(std::move(request), exchange);
  } catch (const std::exception& error) {
    Answer(number_, InternalError(error));
  }
}

void HttpConnection::Answer(uint64_t number, HttpResponse response) {
  if (!IsOf(number)) return;
  std::string framing = ConnectionField(keeps_alive_, is_http_1_0_);
  const bool has_body = response.status != 204 && response.status != 304;
  if (has_body) absl::StrAppend(&framing, "Content-Length: ", response.body.size(), "\r\n");
  std::string bytes = HeadOf(response, loop_->service.fields, framing);
  if (has_body && !is_head_) bytes += response.body;
  is_finished_ = true;
  Write(std::move(bytes), {});
}

void HttpConnection::BeginStream(uint64_t number, HttpResponse head,
                                 std::chrono::nanoseconds interval, HttpExchange::Callback tick) {
  if (!IsOf(number)) return;
  // Without chunks, the end of the connection is the end of the stream.
  if (is_http_1_0_) keeps_alive_ = false;
  std::string framing = ConnectionField(keeps_alive_, is_http_1_0_);
  if (!is_http_1_0_) framing += "Transfer-Encoding: chunked\r\n";
  Write(HeadOf(head, loop_->service.fields, framing), {});
  tick_ = std::move(tick);
  tick_interval_ = interval;
  if (!head.body.empty()) Send(number, std::move(head.body), {});
  Tick();
}

void HttpConnection::Tick() {
  tick_timer_.expires_after(tick_interval_);
  tick_timer_.async_wait([self = shared_from_this(), number = number_](const error_code& error) {
    if (error || !self->IsOf(number) || !self->tick_) return;
    self->tick_();
    self->Tick();
  });
}

void HttpConnection::Send(uint64_t number, std::string bytes, HttpExchange::Callback sent) {
  if (!IsOf(number)) return;
  Write(is_http_1_0_ ? std::move(bytes) : ChunkOf(bytes), std::move(sent));
}

void HttpConnection::EndStream(uint64_t number) {
  if (!IsOf(number)) return;
  is_finished_ = true;
  tick_ = {};
  tick_timer_.cancel();
  Write(is_http_1_0_ ? "" : "0\r\n\r\n", {});
}

void HttpConnection::ReadMore() {
  if (is_reading_ || has_left_) return;
  is_reading_ = true;
  transport_->ReadSome(asio::buffer(chunk_),
                       [self = shared_from_this()](const error_code& error, size_t bytes) {
                         self->OnRead(error, bytes);
                       });
}

void HttpConnection::OnRead(const error_code& error, size_t bytes) {
  is_reading_ = false;
  if (has_left_) return;
  if (error) return Leave();
  if (state_ == State::kClosing) return ReadMore();  // drops the bytes
  buffer_.append(chunk_.data(), bytes);
  if (state_ == State::kReading) return Parse();
  // A peer that sends much ahead of its answer is not watched any more until that is sent.
  if (buffer_.size() < kChunkBytes) ReadMore();
}

void HttpConnection::Write(std::string bytes, HttpExchange::Callback sent) {
  unsent_bytes_ += bytes.size();
  loop_->unsent_bytes += bytes.size();
  outgoing_.push_back({std::move(bytes), std::move(sent)});
  if (!is_writing_) WriteFront();
  LimitUnsent();
}

void HttpConnection::LimitUnsent() {
  while (loop_->unsent_bytes > loop_->limits.total_unsent_bytes) {
    Self most = shared_from_this();
    uint64_t most_bytes = 0;
    for (const Self& other : loop_->working) {
      if (other.get() == this || other->unsent_bytes_ <= most_bytes) continue;
      most = other;
      most_bytes = other->unsent_bytes_;
    }
    most->Leave();
  }
}

void HttpConnection::WriteFront() {
  is_writing_ = true;
  Arm(write_deadline_, Nanoseconds(loop_->limits.patience));
  const std::string& bytes = outgoing_.front().bytes;
  const asio::const_buffer rest(bytes.data() + sent_bytes_,
                                std::min(bytes.size() - sent_bytes_, kWriteBytes));
  if (rest.size() == 0) {
    asio::post(loop_->context, [self = shared_from_this()] { self->OnWritten({}, 0); });
    return;
  }
  transport_->WriteSome(rest, [self = shared_from_this()](const error_code& error, size_t written) {
    self->OnWritten(error, written);
  });
}

void HttpConnection::OnWritten(const error_code& error, size_t bytes) {
  is_writing_ = false;
  if (has_left_) return;
  if (error) return Leave();
  sent_bytes_ += bytes;
  unsent_bytes_ -= bytes;
  loop_->unsent_bytes -= bytes;
  if (sent_bytes_ < outgoing_.front().bytes.size()) return WriteFront();
  const HttpExchange::Callback sent = std::move(outgoing_.front().sent);
  outgoing_.pop_front();
  sent_bytes_ = 0;
  if (!outgoing_.empty()) {
    WriteFront();
  } else {
    Disarm(write_deadline_);
  }
  if (sent) sent();
  if (outgoing_.empty() && is_finished_ && !has_left_) EndRequest();
}

void HttpConnection::EndRequest() {
  ReleaseBody();
  gone_ = {};
  tick_ = {};
  if (keeps_alive_) return AwaitRequest();
  // The peer may still send. If the connection closed earlier, the peer would lose the answer.
  loop_->waiting.splice(loop_->waiting.end(), loop_->working, place_);
  state_ = State::kClosing;
  ++number_;
  buffer_.clear();
  transport_->EndSending();
  Arm(read_deadline_, Nanoseconds(loop_->limits.patience));
  ReadMore();
}

void HttpConnection::ReleaseBody() {
  loop_->body_bytes -= held_body_bytes_;
  held_body_bytes_ = 0;
}

void HttpConnection::Leave() {
  if (has_left_) return;
  has_left_ = true;
  const Self self = shared_from_this();  // the list may hold the last other one
  transport_->Close();
  read_deadline_.cancel();
  write_deadline_.cancel();
  tick_timer_.cancel();
  ReleaseBody();
  (state_ == State::kHandling ? loop_->working : loop_->waiting).erase(place_);
  loop_->unsent_bytes -= std::exchange(unsent_bytes_, 0);  // `outgoing_` stays for its write
  tick_ = {};
  if (const HttpExchange::Callback gone = std::exchange(gone_, {})) gone();
}

void HttpConnection::Arm(asio::steady_timer& timer, std::chrono::nanoseconds time) {
  timer.expires_after(time);
  timer.async_wait([self = shared_from_this(), &timer](const error_code& error) {
    const bool is_over = !error && timer.expiry() <= asio::steady_timer::clock_type::now();
    if (is_over) self->Leave();
  });
}

void HttpConnection::Disarm(asio::steady_timer& timer) {
  timer.expires_at(asio::steady_timer::time_point::max());
}

}  // namespace meshwright::server
