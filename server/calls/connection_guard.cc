#include "server/calls/connection_guard.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "grpcpp/server_context.h"

namespace meshwright::server {
namespace {

constexpr std::chrono::milliseconds kInterval(100);
constexpr absl::Duration kLogInterval = absl::Seconds(10);
// What a connection receives that is part of no message: pings and settings, the headers of a call
// with the frames of its message, and TLS. A peer widens a window for every few KiB it was sent.
constexpr double kOtherBytesPerS = 16 << 10;
constexpr int64_t kHeaderBytes = 1024;
constexpr int64_t kMessageBytesPerFrameByte = 64;
constexpr int64_t kSentBytesPerUpdateByte = 64;

// Linux's states of a TCP socket, which <linux/tcp.h> does not name.
constexpr uint8_t kEstablished = 1;
constexpr uint8_t kCloseWait = 8;

// Returns the name of the socket's peer as grpc::ServerContext::peer() gives it, but for the
// percent signs of an IPv6 address.
std::string PeerOf(int connection) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getpeername(connection, reinterpret_cast<sockaddr*>(&address), &size) != 0) return "";
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    return absl::StrCat("ipv4:", text.data(), ":", ntohs(v4.sin_port));
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
    inet_ntop(AF_INET, &v6.sin6_addr.s6_addr[12], text.data(), text.size());
    return absl::StrCat("ipv4:", text.data(), ":", ntohs(v6.sin6_port));
  }
  inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
  return absl::StrCat("ipv6:[", text.data(), "]:", ntohs(v6.sin6_port));
}

std::string WithoutPercentSigns(std::string_view peer) {
  return absl::StrReplaceAll(peer, {{"%5B", "["}, {"%5D", "]"}});
}

double MiB(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

// Tells of a call that ended before its message arrived.
class CallInterceptor final : public grpc::experimental::Interceptor {
 public:
  CallInterceptor(ConnectionGuard* guard, std::string peer)
      : guard_(guard), peer_(std::move(peer)) {}
  ~CallInterceptor() override {
    if (!has_message_) guard_->CountReset(peer_);
  }
  CallInterceptor(const CallInterceptor&) = delete;
  CallInterceptor& operator=(const CallInterceptor&) = delete;

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    using Point = grpc::experimental::InterceptionHookPoints;
    if (methods->QueryInterceptionHookPoint(Point::POST_RECV_MESSAGE) &&
        methods->GetRecvMessage() != nullptr) {
      has_message_ = true;
    }
    methods->Proceed();
  }

 private:
  ConnectionGuard* const guard_;
  const std::string peer_;
  bool has_message_ = false;
};

class CallInterceptors final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit CallInterceptors(ConnectionGuard* guard) : guard_(guard) {}
  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* info) override {
    return new CallInterceptor(guard_, info->server_context()->peer());  // gRPC deletes it
  }

 private:
  ConnectionGuard* const guard_;
};

}  // namespace

bool ConnectionGuard::Read(Connection& connection) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(connection.descriptor.get(), IPPROTO_TCP, TCP_INFO, &info, &size) != 0) {
    return false;
  }
  const auto read = static_cast<int64_t>(info.tcpi_bytes_received);
  const auto sent = static_cast<int64_t>(info.tcpi_bytes_acked);
  connection.held_bytes += read - connection.read_bytes;
  connection.held_bytes -= (sent - connection.sent_bytes) / kSentBytesPerUpdateByte;
  connection.held_bytes = std::max<int64_t>(0, connection.held_bytes);
  connection.read_bytes = read;
  connection.sent_bytes = sent;
  // Any other state says that gRPC has ended the connection. Its descriptor here would keep the
  // system from forgetting it.
  return info.tcpi_state == kEstablished || info.tcpi_state == kCloseWait;
}

absl::Status ConnectionGuard::Add(int connection) {
  UniqueFd descriptor(::fcntl(connection, F_DUPFD_CLOEXEC, 0));
  if (!descriptor.is_open()) return absl::UnavailableError(std::strerror(errno));
  const MonotonicTime now = options_.clock();
  const absl::MutexLock lock(&mutex_);
  Connection added{.descriptor = std::move(descriptor), .last_reset = now, .last_check = now};
  connections_.insert_or_assign(PeerOf(connection), std::move(added));
  return absl::OkStatus();
}

void ConnectionGuard::Received(std::string_view peer, int64_t bytes) {
  const absl::MutexLock lock(&mutex_);
  const auto found = connections_.find(WithoutPercentSigns(peer));
  if (found == connections_.end()) return;
  Connection& connection = found->second;
  Read(connection);  // or its bytes would count later as not received
  connection.held_bytes = std::max<int64_t>(
      0, connection.held_bytes - bytes - bytes / kMessageBytesPerFrameByte - kHeaderBytes);
}

void ConnectionGuard::CountReset(std::string_view peer) {
  const MonotonicTime now = options_.clock();
  const absl::MutexLock lock(&mutex_);
  const auto found = connections_.find(WithoutPercentSigns(peer));
  if (found == connections_.end()) return;
  Connection& connection = found->second;
  const double passed_s =
      absl::ToDoubleSeconds(now.since_start - connection.last_reset.since_start);
  const HeldLimits& limits = options_.limits;
  connection.resets = std::max(0.0, connection.resets - passed_s * limits.resets_per_s) + 1.0;
  connection.last_reset = now;
  if (connection.resets <= limits.resets) return;
  Close(found->first, connection,
        absl::StrCat("it reset more than ", limits.resets,
                     " calls before their message arrived, beyond ", limits.resets_per_s,
                     " per second"));
  connections_.erase(found);
}

std::string ConnectionGuard::TooMuch(MonotonicTime now, Connection& connection) const {
  const HeldLimits& limits = options_.limits;
  const double passed_s =
      absl::ToDoubleSeconds(now.since_start - connection.last_check.since_start);
  connection.last_check = now;
  connection.held_bytes = std::max<int64_t>(
      0, connection.held_bytes - static_cast<int64_t>(passed_s * kOtherBytesPerS));
  if (connection.held_bytes > limits.connection_bytes) {
    return absl::StrCat("it sent ", MiB(connection.held_bytes),
                        " MiB of messages that are not whole; one connection may send ",
                        MiB(limits.connection_bytes), " MiB");
  }
  if (connection.held_bytes <= limits.lasting_bytes) {
    connection.lasting_since = MonotonicTime::Never();
  } else {
    connection.lasting_since = std::min(connection.lasting_since, now);
  }
  if (now <= connection.lasting_since + limits.most_time) return "";
  return absl::StrCat("it held more than ", MiB(limits.lasting_bytes),
                      " MiB of messages that are not whole for ",
                      absl::FormatDuration(limits.most_time));
}

void ConnectionGuard::Check() {
  const MonotonicTime now = options_.clock();
  const absl::MutexLock lock(&mutex_);
  int64_t total_bytes = 0;
  for (auto it = connections_.begin(); it != connections_.end();) {
    Connection& connection = it->second;
    bool ends = !Read(connection);
    const std::string why = ends ? "" : TooMuch(now, connection);
    if (!why.empty()) {
      Close(it->first, connection, why);
      ends = true;
    }
    if (ends) {
      connections_.erase(it++);
    } else {
      total_bytes += connection.held_bytes;
      ++it;
    }
  }
  if (total_bytes > options_.limits.total_bytes) CloseLargest(total_bytes);
}

void ConnectionGuard::CloseLargest(int64_t total_bytes) {
  std::vector<std::pair<int64_t, std::string>> largest;
  for (const auto& [peer, connection] : connections_) {
    if (connection.held_bytes > 0) largest.emplace_back(connection.held_bytes, peer);
  }
  std::sort(largest.rbegin(), largest.rend());
  for (const auto& [held_bytes, peer] : largest) {
    if (total_bytes <= options_.limits.total_bytes) return;
    const auto it = connections_.find(peer);
    Close(peer, it->second,
          absl::StrCat("all connections together sent ", MiB(total_bytes),
                       " MiB of messages that are not whole and may send ",
                       MiB(options_.limits.total_bytes), " MiB; this one sent most of all, ",
                       MiB(held_bytes), " MiB"));
    connections_.erase(it);
    total_bytes -= held_bytes;
  }
}

void ConnectionGuard::Close(const std::string& peer, const Connection& connection,
                            std::string_view why) {
  ::shutdown(connection.descriptor.get(), SHUT_RDWR);
  if (options_.refused) options_.refused();
  const MonotonicTime now = options_.clock();
  if (!options_.log || now < next_log_) return;
  next_log_ = now + kLogInterval;
  options_.log({.level = LogLevel::kWarning,
                .message = absl::StrCat("closed the connection of ", peer, ": ", why)});
}

void ConnectionGuard::Begin() {
  thread_ = std::thread([this] { Run(); });
}

void ConnectionGuard::Run() {
  std::unique_lock lock(stop_mutex_);
  while (!stop_.wait_for(lock, kInterval, [this] { return stops_; })) Check();
}

void ConnectionGuard::Stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(stop_mutex_);
    stops_ = true;
  }
  stop_.notify_all();
  thread_.join();
}

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>
ConnectionGuard::Interceptors() {
  return std::make_unique<CallInterceptors>(this);
}

}  // namespace meshwright::server
