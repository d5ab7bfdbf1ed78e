#include "executor/gang/leader_link.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/text/status_macros.h"
#include "executor/gang/tls_socket.h"
#include "executor/trial/worker_version.h"

namespace meshwright::gang {
namespace {

constexpr int kLinkPollMs = 50;
constexpr double kGoodbyeS = 1.0;

absl::Status Unreachable(const Membership& membership, const absl::Status& why) {
  return absl::UnavailableError(absl::StrCat(
      "agent ", membership.own().agent, " can't reach agent ", membership.members.front().agent,
      ", which leads, at ", membership.rendezvous, ": ", why.message()));
}

}  // namespace

absl::StatusOr<LeaderLink> LeaderLink::Reach(const Membership& membership,
                                             const SocketAddress& address, const Timing& timing,
                                             const std::function<bool()>& cancelled) {
  absl::StatusOr<TlsSocket> socket = TlsSocket::Dial(address, membership.secret, Purpose::kLink,
                                                     timing.clock() + absl::Seconds(timing.join_s));
  if (!socket.ok()) return Unreachable(membership, socket.status());
  while (true) {
    const absl::Status status = socket->ShakeHands(timing.clock());
    if (!status.ok()) return Unreachable(membership, status);
    if (socket->is_authenticated()) break;
    if (cancelled()) return absl::CancelledError("cancelled before it began");
    pollfd awaited = socket->awaited();
    ::poll(&awaited, 1, kLinkPollMs);
  }
  LeaderLink link(Link(*std::move(socket), timing.clock), timing);
  link.Send(JoinFrame{.member = membership.member, .version = std::string(trial::WorkerVersion())});
  return link;
}

void LeaderLink::Pump() {
  for (const Frame& frame : link_.Receive()) Take(frame);
  NoticeLoss();
}

void LeaderLink::Take(const Frame& frame) {
  if (const auto* ping = std::get_if<PingFrame>(&frame)) {
    link_.Send(PongFrame{.sent_s = ping->sent_s,
                         .clock_s = absl::ToDoubleSeconds(timing_.clock().since_start)});
  } else if (const auto* refuse = std::get_if<RefuseFrame>(&frame)) {
    ended_ = true;
    why_lost_ = refuse->message;
  } else if (std::holds_alternative<AdmitFrame>(frame)) {
    admitted_ = true;
  } else if (const auto* start = std::get_if<StartFrame>(&frame)) {
    start_ = *start;
  } else if (std::holds_alternative<EndFrame>(frame)) {
    ended_ = true;
  }
}

void LeaderLink::NoticeLoss() {
  if (ended_) return;
  if (!link_.status().ok()) {
    why_lost_ = absl::StrCat("the leader is lost: ", link_.status().message());
  } else if (link_.silence_s() > timing_.silence_s) {
    why_lost_ = absl::StrCat("nothing was heard from the leader for ", timing_.silence_s, " s");
  }
  ended_ = !why_lost_.empty();
}

void LeaderLink::Wait() const {
  std::vector<pollfd> descriptors;
  AddDescriptor(descriptors);
  ::poll(descriptors.data(), descriptors.size(), kLinkPollMs);
}

void LeaderLink::Close() { link_.Close(kGoodbyeS); }

}  // namespace meshwright::gang
