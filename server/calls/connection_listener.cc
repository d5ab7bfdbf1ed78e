#include "server/calls/connection_listener.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/system/descriptors.h"
#include "base/text/status_macros.h"

namespace meshwright::server {
namespace {

constexpr int kRetryMs = 100;
constexpr absl::Duration kLogInterval = absl::Seconds(10);
constexpr int kBacklog = 1024;
constexpr int32_t kSpareDescriptors = 64;

absl::Status SystemError(int error) { return absl::UnavailableError(std::strerror(error)); }

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

absl::StatusOr<AddressList> AddressesOf(const HostPort& listen) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  const std::string host = ResolvableHost(listen);
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), std::to_string(listen.port).c_str(), &hints, &found);
  if (error != 0) return absl::UnavailableError(gai_strerror(error));
  return AddressList(found, &freeaddrinfo);
}

void SetPort(int port, sockaddr_storage& address) {
  if (address.ss_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(&address)->sin6_port = htons(static_cast<uint16_t>(port));
  } else {
    reinterpret_cast<sockaddr_in*>(&address)->sin_port = htons(static_cast<uint16_t>(port));
  }
}

int PortOf(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port
                   : reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

// Listens on one address, on `port` if that is not 0.
absl::StatusOr<UniqueFd> ListenOn(const addrinfo& info, int port) {
  UniqueFd socket(::socket(info.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return SystemError(errno);
  const int on = 1;
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_storage address{};
  std::memcpy(&address, info.ai_addr, info.ai_addrlen);
  if (info.ai_family == AF_INET6) {
    // [::] takes IPv4 too.
    const int off = 0;
    setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  }
  if (port != 0) SetPort(port, address);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), info.ai_addrlen) != 0 ||
      ::listen(socket.get(), kBacklog) != 0) {
    return SystemError(errno);
  }
  return socket;
}

}  // namespace

ConnectionListener::ConnectionListener(ListenerOptions options, UniqueFd wake)
    : options_(std::move(options)), wake_(std::move(wake)) {}

absl::StatusOr<std::unique_ptr<ConnectionListener>> ConnectionListener::Bind(
    const HostPort& listen, ListenerOptions options) {
  UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.is_open()) return SystemError(errno);
  auto listener = absl::WrapUnique(new ConnectionListener(std::move(options), std::move(wake)));
  RETURN_IF_ERROR(listener->BindAll(listen));
  return listener;
}

absl::Status ConnectionListener::BindAll(const HostPort& listen) {
  ASSIGN_OR_RETURN(const AddressList addresses, AddressesOf(listen));
  absl::Status missing;
  for (const addrinfo* info = addresses.get(); info != nullptr; info = info->ai_next) {
    absl::StatusOr<UniqueFd> socket = ListenOn(*info, port_);
    if (socket.ok()) {
      if (port_ == 0) port_ = PortOf(socket->get());
      listening_.push_back(*std::move(socket));
    } else if (socket.status().message() == std::strerror(EADDRINUSE)) {
      return socket.status();  // two servers on one port would each get some of the calls
    } else {
      missing = socket.status();  // a host without IPv6 still has a localhost of IPv4
    }
  }
  return listening_.empty() ? missing : absl::OkStatus();
}

void ConnectionListener::Begin(Take take) {
  thread_ = std::thread([this, take = std::move(take)] { Run(take); });
}

void ConnectionListener::Run(const Take& take) {
  std::vector<pollfd> waits = {{.fd = wake_.get(), .events = POLLIN, .revents = 0}};
  for (const UniqueFd& socket : listening_) {
    waits.push_back({.fd = socket.get(), .events = POLLIN, .revents = 0});
  }
  bool retry = false;
  while (true) {
    // A listening socket stays readable while accept() fails, so the failure has to be waited out.
    if (poll(waits.data(), retry ? 1 : waits.size(), retry ? kRetryMs : -1) < 0) continue;
    if (waits.front().revents != 0) return;
    retry = false;
    for (size_t i = 1; i < waits.size(); ++i) retry |= !AcceptFrom(waits[i].fd, take);
  }
}

bool ConnectionListener::AcceptFrom(int listening, const Take& take) {
  UniqueFd connection(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!connection.is_open()) {
    // The peer was faster, or nobody is there.
    if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return true;
    Log(absl::StrCat("can't accept connections (", std::strerror(errno), "); trying again every ",
                     kRetryMs, " ms"));
    return false;
  }
  if (connection.get() > options_.max_descriptor) {
    if (options_.refused) options_.refused();
    Log(absl::StrCat("refused a connection: the process has ", connection.get(),
                     " descriptors open, and connections may use ", options_.max_descriptor,
                     "; raise --max-connections or the limit on open files (ulimit -n)"));
    return true;
  }
  const int on = 1;
  setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  take(std::move(connection), listening);
  return true;
}

void ConnectionListener::Log(const std::string& message) {
  const MonotonicTime now = options_.clock();
  if (!options_.log || now < next_log_) return;
  next_log_ = now + kLogInterval;
  options_.log({.level = LogLevel::kWarning, .message = message});
}

void ConnectionListener::Stop() {
  if (!thread_.joinable()) return;
  eventfd_write(wake_.get(), 1);
  thread_.join();
}

ConnectionListener::~ConnectionListener() { Stop(); }

int32_t HighestConnectionDescriptor(int32_t max_connections) {
  return static_cast<int32_t>(std::min<int64_t>(OpenDescriptors() + 2 * int64_t{max_connections},
                                                DescriptorLimit() - kSpareDescriptors));
}

}  // namespace meshwright::server
