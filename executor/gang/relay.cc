#include "executor/gang/relay.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <utility>

#include "absl/time/time.h"

namespace meshwright::gang {
namespace {

// Anybody may connect to a listener, and each connection takes a descriptor until its deadline.
constexpr size_t kMostWaiting = 256;
// After this long a handshake may be dropped for a newer one; members need less.
constexpr absl::Duration kFairWait = absl::Seconds(1);
// Poll timeouts: for deadlines, and before accepting is tried again.
constexpr int kRelayPollMs = 200;
constexpr int kRestMs = 50;

}  // namespace

absl::StatusOr<std::unique_ptr<Relay>> Relay::Start(RelayOptions options) {
  UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.is_open()) return SocketError("eventfd");
  return std::unique_ptr<Relay>(new Relay(std::move(options), std::move(wake)));
}

Relay::Relay(RelayOptions options, UniqueFd wake)
    : options_(std::move(options)), wake_(std::move(wake)), thread_([this] { Loop(); }) {}

Relay::~Relay() {
  ::eventfd_write(wake_.get(), 1);
  thread_.join();
}

void Relay::Loop() {
  while (WaitForSomething()) {
    AcceptAll();
    ShakeHands();
    tunnels_.Pump();
  }
}

bool Relay::WaitForSomething() {
  std::vector<pollfd> descriptors = {{.fd = wake_.get(), .events = POLLIN, .revents = 0}};
  if (!rests_ && MakeRoom()) {
    descriptors.push_back({.fd = options_.listener, .events = POLLIN, .revents = 0});
  }
  for (const Waiting& waiting : waiting_) descriptors.push_back(waiting.ends.far.awaited());
  tunnels_.AddDescriptors(descriptors);
  ::poll(descriptors.data(), descriptors.size(), rests_ ? kRestMs : kRelayPollMs);
  rests_ = false;
  return (descriptors.front().revents & POLLIN) == 0;
}

bool Relay::MakeRoom() {
  if (waiting_.size() < kMostWaiting) return true;
  if (options_.clock() < waiting_.front().since + kFairWait) return false;
  waiting_.erase(waiting_.begin());
  return true;
}

void Relay::AcceptAll() {
  while (MakeRoom()) {
    UniqueFd accepted = Accept(options_.listener);
    if (!accepted.is_open()) {
      rests_ = errno == EMFILE || errno == ENFILE;
      return;
    }
    Admit(std::move(accepted));
  }
}

void Relay::Admit(UniqueFd accepted) {
  absl::StatusOr<TunnelEnds> ends = options_.admit(std::move(accepted));
  if (ends.ok()) waiting_.push_back({.ends = *std::move(ends), .since = options_.clock()});
}

void Relay::ShakeHands() {
  const MonotonicTime now = options_.clock();
  std::erase_if(waiting_, [&](Waiting& waiting) {
    TlsSocket& socket = waiting.ends.far;
    if (!socket.ShakeHands(now).ok()) return true;
    if (!socket.is_authenticated()) return false;
    if (options_.join(waiting.ends)) tunnels_.Add(std::move(waiting.ends));
    return true;
  });
}

}  // namespace meshwright::gang
