// The leader's part of a gang's run.
#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "base/text/status_macros.h"
#include "executor/gang/arrivals.h"
#include "executor/gang/gang_runner.h"
#include "executor/gang/joining.h"
#include "executor/gang/relay.h"

namespace meshwright::gang {
namespace {

using trial::CancelledResult;
using trial::FailedResult;
using trial::Fault;
using trial::TrialResult;

// Hands members' links to `arrivals`, and joins the tunnels of their processes to rank 0's store,
// which listens on `store_port` of loopback; nullopt: there are no tunnels.
RelayOptions AtListener(const Membership& membership, const Timing& timing,
                        std::optional<uint16_t> store_port, Arrivals& arrivals) {
  RelayOptions options;
  options.listener = membership.listener->socket();
  options.clock = timing.clock;
  options.admit = [&membership, &timing](UniqueFd accepted) -> absl::StatusOr<TunnelEnds> {
    const MonotonicTime deadline = timing.clock() + absl::Seconds(timing.handshake_s);
    ASSIGN_OR_RETURN(TlsSocket socket,
                     TlsSocket::OfListener(std::move(accepted), membership.secret, deadline));
    return TunnelEnds{.near = {}, .far = std::move(socket)};
  };
  options.join = [&arrivals, store_port](TunnelEnds& ends) {
    if (ends.far.purpose() == Purpose::kLink) {
      arrivals.Push(std::move(ends.far));
      return false;
    }
    if (store_port) ends.near = Dial(Loopback(*store_port)).value_or(UniqueFd());
    return ends.near.is_open();
  };
  return options;
}

class LeaderRun {
 public:
  LeaderRun(HostPart& part, const Membership& membership, const trial::TrialRunnerOptions& options,
            const Timing& timing)
      : part_(part), membership_(membership), options_(options), timing_(timing) {}

  TrialResult Run();

 private:
  bool Cancelled() const { return options_.cancel != nullptr && options_.cancel->load(); }
  // REQUIRES: all followers have joined.
  TrialResult RunRanks(uint16_t store_port, const Followers& followers);

  HostPart& part_;
  const Membership& membership_;
  const trial::TrialRunnerOptions& options_;
  const Timing& timing_;
  Arrivals arrivals_;
};

TrialResult LeaderRun::Run() {
  const absl::Status runnable = part_.Check();
  if (!runnable.ok()) return FailedResult(runnable.message(), Fault::kLayout);
  const absl::StatusOr<uint16_t> store_port = part_.OpenStore();
  if (!store_port.ok()) return FailedResult(store_port.status().message(), Fault::kInfrastructure);
  const auto relay = Relay::Start(
      AtListener(membership_, timing_,
                 part_.is_tunnelled() ? std::optional(*store_port) : std::nullopt, arrivals_));
  if (!relay.ok()) return FailedResult(relay.status().message(), Fault::kInfrastructure);
  Joining joining(membership_, timing_, arrivals_);
  auto failed = joining.Wait([this] { return Cancelled(); });
  arrivals_.Close();
  if (failed) {
    // The followers that joined are not at fault: end them.
    for (const auto& follower : joining.members()) follower->End();
    return *std::move(failed);
  }
  return RunRanks(*store_port, joining.members());
}

TrialResult LeaderRun::RunRanks(uint16_t store_port, const Followers& followers) {
  absl::StatusOr<std::vector<LocalRank>> own =
      part_.Start({.host = membership_.address, .port = store_port});
  if (!own.ok()) {
    for (const auto& follower : followers) follower->End();
    return FailedResult(own.status().message(), Fault::kInfrastructure);
  }
  for (const auto& follower : followers) follower->Start({.store_port = store_port});
  TrialResult result = part_.Watch(*std::move(own), followers);
  for (const auto& follower : followers) {
    if (follower->withdrew()) return CancelledResult(follower->failure()->message);
  }
  return result;
}

}  // namespace

TrialResult Lead(HostPart& part, const Membership& membership,
                 const trial::TrialRunnerOptions& options, const Timing& timing) {
  return LeaderRun(part, membership, options, timing).Run();
}

}  // namespace meshwright::gang
