#include "executor/gang/tunnels.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "executor/gang/socket_address.h"

namespace meshwright::gang {
namespace {

constexpr size_t kMostHeldBytes = size_t{256} << 10;

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
    add(tunnel.ends.far.get(), WantedEvents(tunnel.to_near, tunnel.to_far));
  }
}

void Tunnels::Pump() {
  std::erase_if(tunnels_, [](Tunnel& tunnel) {
    const int near = tunnel.ends.near.get();
    const int far = tunnel.ends.far.get();
    if (!Move(near, far, tunnel.to_far) || !Move(far, near, tunnel.to_near)) return true;
    return tunnel.to_far.told_ended && tunnel.to_near.told_ended;
  });
}

bool Tunnels::Move(int from, int to, Stream& stream) {
  std::array<char, 16384> buffer;
  while (!stream.ended && stream.held.size() < kMostHeldBytes) {
    const ssize_t n = ::recv(from, buffer.data(), buffer.size(), 0);
    if (n < 0 && IsForLater(errno)) break;
    if (n < 0) return false;
    stream.ended = n == 0;
    stream.held.append(buffer.data(), static_cast<size_t>(n));
  }
  while (!stream.held.empty()) {
    const ssize_t n = ::send(to, stream.held.data(), stream.held.size(), MSG_NOSIGNAL);
    if (n < 0 && IsForLater(errno)) return true;
    if (n < 0) return false;
    stream.held.erase(0, static_cast<size_t>(n));
  }
  if (stream.ended && !stream.told_ended) {
    stream.told_ended = ::shutdown(to, SHUT_WR) == 0;
    return stream.told_ended;
  }
  return true;
}

}  // namespace meshwright::gang
