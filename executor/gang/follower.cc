// A follower's part of a gang's run.
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/text/status_macros.h"
#include "executor/gang/forwarding.h"
#include "executor/gang/gang_runner.h"
#include "executor/gang/leader_link.h"
#include "executor/gang/relay.h"
#include "executor/trial/worker_process.h"

namespace meshwright::gang {
namespace {

using trial::CancelledResult;
using trial::FailedResult;
using trial::Fault;
using trial::TrialResult;

constexpr std::chrono::milliseconds kCancelPoll(20);
constexpr char kEnded[] = "this agent's part of the trial was ended";

// Relays this host's workers to the leader's listener, behind which rank 0's store is.
RelayOptions ToListener(const Membership& membership, const SocketAddress& leader_address,
                        const Timing& timing, int listener) {
  RelayOptions options;
  options.listener = listener;
  options.clock = timing.clock;
  options.admit = [&membership, &timing,
                   leader_address](UniqueFd accepted) -> absl::StatusOr<TunnelEnds> {
    const MonotonicTime deadline = timing.clock() + absl::Seconds(timing.handshake_s);
    ASSIGN_OR_RETURN(TlsSocket socket, TlsSocket::Dial(leader_address, membership.secret,
                                                       Purpose::kTunnel, deadline));
    return TunnelEnds{.near = std::move(accepted), .far = std::move(socket)};
  };
  options.join = [](TunnelEnds&) { return true; };
  return options;
}

class FollowerRun {
 public:
  FollowerRun(HostPart& part, const Membership& membership,
              const trial::TrialRunnerOptions& options, const Timing& timing)
      : part_(part), membership_(membership), options_(options), timing_(timing) {}

  TrialResult Run();

 private:
  // Through which this host's workers reach the leader's store.
  struct Meeting {
    absl::Status Open(const Membership& membership, const SocketAddress& leader_address,
                      const Timing& timing);

    trial::Listener listener;
    std::unique_ptr<Relay> relay;  // ends before the listener
  };

  bool Cancelled() const { return options_.cancel != nullptr && options_.cancel->load(); }

  // Returns OK once the leader tells this member to start its part, Cancelled where the trial
  // was cancelled or the leader ends the run, and another error where this member can't take part.
  absl::Status WaitForStart(LeaderLink& link) const;
  void Forward(Forwarding forwarding, LeaderLink& link) const;
  // Tells the leader that this member was cancelled, lest it take the end for a failure.
  void Withdraw(LeaderLink& link) const;
  // Runs the ranks. Returns a result only if the ranks can't be run.
  std::optional<TrialResult> RunRanks(const SocketAddress& leader_address, LeaderLink& link) const;
  TrialResult CantRun(const absl::Status& why, Fault fault, LeaderLink& link) const;
  // Returns the result where this member did not reach or lost the leader. The leader may know the
  // cause better, so its own result is given time to arrive first.
  TrialResult Unled(const absl::Status& why) const;
  // Waits until the whole run is over.
  TrialResult WaitForCancel() const;

  HostPart& part_;
  const Membership& membership_;
  const trial::TrialRunnerOptions& options_;
  const Timing& timing_;
};

TrialResult FollowerRun::Run() {
  const absl::Status fits = part_.Check();
  const absl::StatusOr<SocketAddress> leader_address = ResolveHostPort(membership_.rendezvous);
  if (!leader_address.ok()) {
    return FailedResult(leader_address.status().message(), Fault::kInfrastructure);
  }
  absl::StatusOr<LeaderLink> link =
      LeaderLink::Reach(membership_, *leader_address, timing_, [this] { return Cancelled(); });
  if (absl::IsCancelled(link.status())) return CancelledResult(kEnded);
  if (!link.ok()) return Unled(link.status());
  if (!fits.ok()) return CantRun(fits, Fault::kLayout, *link);
  const absl::Status wanted = WaitForStart(*link);
  if (!wanted.ok() && !absl::IsCancelled(wanted)) return Unled(wanted);
  if (wanted.ok()) {
    if (auto failed = RunRanks(*leader_address, *link)) return *std::move(failed);
  } else if (!link->ended()) {
    Withdraw(*link);
  }
  link->Close();
  return WaitForCancel();
}

absl::Status FollowerRun::WaitForStart(LeaderLink& link) const {
  const MonotonicTime deadline = timing_.clock() + absl::Seconds(timing_.join_s);
  while (!link.started()) {
    link.Pump();
    if (link.ended() && !link.admitted()) return absl::UnavailableError(link.why_lost());
    if (link.ended() || Cancelled()) return absl::CancelledError();
    if (!link.admitted() && timing_.clock() > deadline) {
      return absl::UnavailableError(
          absl::StrCat("agent ", membership_.members.front().agent, ", which leads, did not admit ",
                       membership_.own().agent, " at ", membership_.rendezvous, " within ",
                       timing_.join_s, " s"));
    }
    link.Wait();
  }
  return absl::OkStatus();
}

absl::Status FollowerRun::Meeting::Open(const Membership& membership,
                                        const SocketAddress& leader_address, const Timing& timing) {
  ASSIGN_OR_RETURN(listener, trial::ListenOnLoopback());
  SetNonBlocking(listener.socket);
  ASSIGN_OR_RETURN(
      relay, Relay::Start(ToListener(membership, leader_address, timing, listener.socket.get())));
  return absl::OkStatus();
}

std::optional<TrialResult> FollowerRun::RunRanks(const SocketAddress& leader_address,
                                                 LeaderLink& link) const {
  StoreAddress at{.host = leader_address.host(),
                  .port = static_cast<uint16_t>(link.start().store_port)};
  Meeting meeting;
  if (part_.is_tunnelled()) {
    const absl::Status opened = meeting.Open(membership_, leader_address, timing_);
    if (!opened.ok()) return CantRun(opened, Fault::kInfrastructure, link);
    at = {.host = Loopback(0).host(), .port = meeting.listener.port};
  }
  absl::StatusOr<std::vector<LocalRank>> ranks = part_.Start(at);
  if (!ranks.ok()) return CantRun(ranks.status(), Fault::kInfrastructure, link);
  Forward(Forwarding(*std::move(ranks), link), link);
  return std::nullopt;
}

void FollowerRun::Withdraw(LeaderLink& link) const {
  link.Send(
      FailFrame{.message = absl::StrCat("agent ", membership_.own().agent, " was told to end"),
                .fault = Fault::kNone});
}

void FollowerRun::Forward(Forwarding forwarding, LeaderLink& link) const {
  while (!link.ended()) {
    forwarding.Step();
    if (!Cancelled()) continue;
    Withdraw(link);
    break;
  }
  forwarding.EndAll(part_.longest_kill());
}

TrialResult FollowerRun::CantRun(const absl::Status& why, Fault fault, LeaderLink& link) const {
  // A layout's failure would be the same on any host.
  const std::string message =
      fault == Fault::kLayout
          ? std::string(why.message())
          : absl::StrCat("agent ", membership_.own().agent, ": ", why.message());
  link.Send(FailFrame{.message = message, .fault = fault});
  link.Close();
  return FailedResult(message, fault);
}

TrialResult FollowerRun::Unled(const absl::Status& why) const {
  const MonotonicTime until = timing_.clock() + absl::Seconds(timing_.last_word_s);
  while (!Cancelled() && timing_.clock() < until) std::this_thread::sleep_for(kCancelPoll);
  if (Cancelled()) return CancelledResult(kEnded);
  return FailedResult(why.message(), Fault::kNetwork);
}

TrialResult FollowerRun::WaitForCancel() const {
  while (options_.cancel != nullptr && !Cancelled()) std::this_thread::sleep_for(kCancelPoll);
  return CancelledResult(kEnded);
}

}  // namespace

TrialResult Follow(HostPart& part, const Membership& membership,
                   const trial::TrialRunnerOptions& options, const Timing& timing) {
  return FollowerRun(part, membership, options, timing).Run();
}

}  // namespace meshwright::gang
