#include "server/calls/connection_guard.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/system/tcp_counts.h"
#include "base/text/string_view.h"
#include "grpcpp/server_context.h"

namespace meshwright::server {
namespace {

constexpr std::chrono::milliseconds kInterval(50);
constexpr std::chrono::milliseconds kShortInterval(10);
constexpr int64_t kCalmBytes = int64_t{64} << 10;
// Until then the process may still have what connections held before.
constexpr absl::Duration kCalmTime = absl::Seconds(5);
constexpr absl::Duration kClosedLogInterval = absl::Seconds(10);
// Bytes per second that a connection may receive outside messages: pings and settings, the headers
// of a call with the frames of its message, and TLS. A peer widens a window for every few KiB it
// was sent.
constexpr double kOtherBytesPerS = 16 << 10;
constexpr int64_t kHeaderBytes = 1024;
constexpr int64_t kMessageBytesPerFrameByte = 64;
constexpr int64_t kSentBytesPerUpdateByte = 64;

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
  return absl::StrReplaceAll(AbslView(peer), {{"%5B", "["}, {"%5D", "]"}});
}

// Ends a connection and drops the bytes that the peer sent and gRPC has not read. After a mere
// shutdown(), gRPC would still read and handle these bytes, several MiB from a fast peer.
void Abort(int connection) {
  sockaddr nobody{};
  nobody.sa_family = AF_UNSPEC;
  if (::connect(connection, &nobody, sizeof nobody) != 0) ::shutdown(connection, SHUT_RDWR);
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
  const TcpCounts counts = CountsOf(connection.descriptor.get());
  connection.held_bytes += counts.received_bytes - connection.counts.received_bytes;
  connection.held_bytes -=
      (counts.acknowledged_bytes - connection.counts.acknowledged_bytes) / kSentBytesPerUpdateByte;
  connection.held_bytes = std::max<int64_t>(0, connection.held_bytes);
  connection.counts = counts;
  // The guard's descriptor would keep a connection that gRPC has ended.
  return counts.is_open;
}

void ConnectionGuard::AwaitPause() {
  std::unique_lock lock(stop_mutex_);
  while (true) {
    const MonotonicTime now = options_.clock();
    MonotonicTime end;
    {
      const absl::MutexLock connections(&mutex_);
      end = pause_end_;
    }
    if (now >= end || stops_) return;
    stop_.wait_for(lock, absl::ToChronoMilliseconds(end.since_start - now.since_start) +
                             std::chrono::milliseconds(1));
  }
}

absl::Status ConnectionGuard::Add(int connection) {
  AwaitPause();
  UniqueFd descriptor(::fcntl(connection, F_DUPFD_CLOEXEC, 0));
  if (!descriptor.is_open()) return absl::UnavailableError(std::strerror(errno));
  const MonotonicTime now = options_.clock();
  const absl::MutexLock lock(&mutex_);
  Connection added;
  added.descriptor = std::move(descriptor);
  added.last_check = now;
  added.last_reset = now;
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
                     " calls before their messages arrived, beyond the ", limits.resets_per_s,
                     " per second that are allowed"));
  connections_.erase(found);
  pause_end_ = now + limits.pause;
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
                        " MiB of incomplete messages; one connection may send ",
                        MiB(limits.connection_bytes), " MiB");
  }
  if (connection.held_bytes <= limits.lasting_bytes) {
    connection.lasting_since = MonotonicTime::Never();
  } else {
    connection.lasting_since = std::min(connection.lasting_since, now);
  }
  if (now <= connection.lasting_since + limits.most_time) return "";
  return absl::StrCat("it held more than ", MiB(limits.lasting_bytes),
                      " MiB of incomplete messages for ", absl::FormatDuration(limits.most_time));
}

int64_t ConnectionGuard::Check() {
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
  total_bytes -= LimitGrowth(now, total_bytes);
  while (total_bytes > options_.limits.total_bytes) {
    total_bytes -= CloseLargest(absl::StrCat("all connections together sent ", MiB(total_bytes),
                                             " MiB of incomplete messages and may send ",
                                             MiB(options_.limits.total_bytes),
                                             " MiB; this connection sent the most, "));
  }
  return total_bytes;
}

int64_t ConnectionGuard::LimitGrowth(MonotonicTime now, int64_t total_bytes) {
  const int64_t resident_bytes = options_.resident_bytes();
  if (total_bytes <= kCalmBytes) {
    calm_since_ = std::min(calm_since_, now);
    if (now >= calm_since_ + kCalmTime) calm_resident_bytes_ = resident_bytes;
    return 0;
  }
  calm_since_ = MonotonicTime::Never();
  const int64_t growth_bytes = resident_bytes - calm_resident_bytes_;
  if (growth_bytes <= options_.limits.growth_bytes) return 0;
  pause_end_ = now + options_.limits.pause;
  return CloseLargest(absl::StrCat(
      "the process has grown by ", MiB(growth_bytes), " MiB and may grow by ",
      MiB(options_.limits.growth_bytes),
      " MiB for messages and calls that it has not handled; this connection sent the most, "));
}

int64_t ConnectionGuard::CloseLargest(std::string_view why) {
  const auto largest = std::max_element(
      connections_.begin(), connections_.end(),
      [](const auto& a, const auto& b) { return a.second.held_bytes < b.second.held_bytes; });
  const int64_t held_bytes = largest->second.held_bytes;
  Close(largest->first, largest->second, absl::StrCat(AbslView(why), MiB(held_bytes), " MiB"));
  connections_.erase(largest);
  return held_bytes;
}

void ConnectionGuard::Close(const std::string& peer, const Connection& connection,
                            std::string_view why) {
  Abort(connection.descriptor.get());
  if (options_.refused) options_.refused();
  const MonotonicTime now = options_.clock();
  if (!options_.log || now < next_log_) return;
  next_log_ = now + kClosedLogInterval;
  options_.log({.level = LogLevel::kWarning,
                .message = absl::StrCat("closed the connection of ", peer, ": ", AbslView(why))});
}

void ConnectionGuard::Begin() {
  thread_ = std::thread([this] { Run(); });
}

void ConnectionGuard::Run() {
  std::chrono::milliseconds interval = kInterval;
  std::unique_lock lock(stop_mutex_);
  while (!stop_.wait_for(lock, interval, [this] { return stops_; })) {
    lock.unlock();
    interval = Check() > kCalmBytes ? kShortInterval : kInterval;
    lock.lock();
  }
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
