#include "executor/gang/tunnels.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <span>
#include <utility>

#include "executor/gang/socket_address.h"

namespace meshwright::gang {
namespace {

constexpr size_t kMostHeldBytes = size_t{256} << 10;

// The plain end of a tunnel, with the same functions as TlsSocket.
class PlainSocket {
 public:
  explicit PlainSocket(int socket) : socket_(socket) {}

  absl::StatusOr<size_t> Receive(std::span<char> buffer) const {
    const ssize_t n = ::recv(socket_, buffer.data(), buffer.size(), 0);
    if (n == 0) return absl::OutOfRangeError("the connection was closed");
    return Moved(n);
  }
  absl::StatusOr<size_t> Send(std::string_view bytes) const {
    return Moved(::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
  }
  absl::StatusOr<bool> EndSending() const {
    if (::shutdown(socket_, SHUT_WR) != 0) return SocketError("shutdown");
    return true;
  }

 private:
  static absl::StatusOr<size_t> Moved(ssize_t n) {
    if (n >= 0) return static_cast<size_t>(n);
    if (IsForLater(errno)) return size_t{0};
    return SocketError("the connection broke");
  }

  int socket_;
};

}  // namespace

void Tunnels::Add(TunnelEnds ends) {
  tunnels_.push_back({.ends = std::move(ends), .to_far = {}, .to_near = {}});
}

short Tunnels::WantedEvents(const Stream& from, const Stream& to) {
  const bool reads = !from.ended && from.held.size() < kMostHeldBytes;
  return static_cast<short>((reads ? POLLIN : 0) | (to.held.empty() ? 0 : POLLOUT));
}

void Tunnels::AddDescriptors(std::vector<pollfd>& descriptors) const {
  const auto add = [&](int fd, short events) {
    // Without events poll() would report its hang-up again and again.
    if (events != 0) descriptors.push_back({.fd = fd, .events = events, .revents = 0});
  };
  for (const Tunnel& tunnel : tunnels_) {
    add(tunnel.ends.near.get(), WantedEvents(tunnel.to_far, tunnel.to_near));
    add(tunnel.ends.far.descriptor(), WantedEvents(tunnel.to_near, tunnel.to_far));
  }
}

void Tunnels::Pump() {
  std::erase_if(tunnels_, [](Tunnel& tunnel) {
    PlainSocket near(tunnel.ends.near.get());
    TlsSocket& far = tunnel.ends.far;
    if (!Move(near, far, tunnel.to_far) || !Move(far, near, tunnel.to_near)) return true;
    return tunnel.to_far.told_ended && tunnel.to_near.told_ended;
  });
}

template <typename From, typename To>
bool Tunnels::Move(From& from, To& to, Stream& stream) {
  std::array<char, kMostRecordBytes> buffer;
  while (!stream.ended && stream.held.size() < kMostHeldBytes) {
    const absl::StatusOr<size_t> n = from.Receive(buffer);
    stream.ended = absl::IsOutOfRange(n.status());
    if (!n.ok() && !stream.ended) return false;
    if (n.value_or(0) == 0) break;
    stream.held.append(buffer.data(), *n);
  }
  if (!stream.held.empty()) {
    const absl::StatusOr<size_t> n = to.Send(stream.held);
    if (!n.ok()) return false;
    stream.held.erase(0, *n);
  }
  if (stream.ended && stream.held.empty() && !stream.told_ended) {
    const absl::StatusOr<bool> told = to.EndSending();
    stream.told_ended = told.value_or(false);
    return told.ok();
  }
  return true;
}

}  // namespace meshwright::gang
