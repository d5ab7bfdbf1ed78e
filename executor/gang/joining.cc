#include "executor/gang/joining.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "executor/trial/trial_runner.h"
#include "executor/trial/worker_version.h"

namespace meshwright::gang {
namespace {

constexpr int kJoiningPollMs = 50;
// Time for a refusal to reach the other end.
constexpr double kRefusalS = 1.0;

}  // namespace

Joining::Joining(const Membership& membership, const Timing& timing, Arrivals& arrivals)
    : membership_(membership), timing_(timing), arrivals_(arrivals) {}

std::optional<trial::TrialResult> Joining::Wait(const std::function<bool()>& cancelled) {
  const MonotonicTime deadline = timing_.clock() + absl::Seconds(timing_.join_s);
  while (true) {
    TakeArrivals();
    std::erase_if(unknown_, [&](Unknown& unknown) { return !StaysUnknown(unknown); });
    for (const auto& [member, remote] : joined_) remote->Pump();
    if (refused_) return refused_;
    if (auto failure = FailureOfAny()) return failure;
    if (AllJoined()) return std::nullopt;
    if (cancelled()) return trial::CancelledResult("cancelled before it began");
    if (timing_.clock() > deadline) return Missing();
    WaitForSomething();
  }
}

std::vector<std::shared_ptr<RemoteMember>> Joining::members() const {
  std::vector<std::shared_ptr<RemoteMember>> members;
  for (const auto& [number, member] : joined_) members.push_back(member);
  return members;
}

void Joining::TakeArrivals() {
  for (TlsSocket& socket : arrivals_.TakeAll()) {
    unknown_.push_back({.link = Link(std::move(socket), timing_.clock),
                        .deadline = timing_.clock() + absl::Seconds(timing_.handshake_s)});
  }
}

bool Joining::StaysUnknown(Unknown& unknown) {
  std::vector<Frame> frames = unknown.link.Receive();
  if (frames.empty()) return unknown.link.status().ok() && timing_.clock() < unknown.deadline;
  const auto* join = std::get_if<JoinFrame>(&frames.front());
  if (join == nullptr) return false;
  const JoinFrame first = *join;
  frames.erase(frames.begin());
  Join(first, std::move(unknown.link), std::move(frames));
  return false;
}

void Joining::Join(const JoinFrame& join, Link link, std::vector<Frame> rest) {
  std::string objection = Objection(join);
  if (!objection.empty()) return Refuse(std::move(objection), std::move(link));
  const Member& member = membership_.members[static_cast<size_t>(join.member)];
  if (join.version != trial::WorkerVersion()) {
    std::string why =
        absl::StrCat("the workers of agent ", member.agent, " are of version ", join.version,
                     ", and those of agent ", membership_.own().agent, ", which leads, of version ",
                     std::string(trial::WorkerVersion()));
    refused_ = trial::FailedResult(why, trial::Fault::kInfrastructure);
    refused_->failed_agent = member.agent;
    return Refuse(std::move(why), std::move(link));
  }
  auto remote = std::make_shared<RemoteMember>(member, std::move(link), timing_);
  for (Frame& frame : rest) remote->Take(std::move(frame));
  joined_[join.member] = std::move(remote);
}

std::string Joining::Objection(const JoinFrame& join) const {
  const auto members = static_cast<int32_t>(membership_.members.size());
  if (join.member < 1 || join.member >= members) {
    return absl::StrCat("there is no follower ", join.member, " among ", members, " members");
  }
  if (joined_.contains(join.member)) {
    return absl::StrCat(NameOf(membership_.members[static_cast<size_t>(join.member)]),
                        " has joined before");
  }
  return "";
}

void Joining::Refuse(std::string why, Link link) {
  link.Send(RefuseFrame{.message = std::move(why)});
  link.Close(kRefusalS);
}

std::optional<trial::TrialResult> Joining::FailureOfAny() const {
  for (const auto& [number, remote] : joined_) {
    if (!remote->failure()) continue;
    if (remote->withdrew()) return trial::CancelledResult(remote->failure()->message);
    trial::TrialResult result =
        trial::FailedResult(remote->failure()->message, remote->failure()->fault);
    result.failed_agent = remote->member().agent;
    return result;
  }
  return std::nullopt;
}

trial::TrialResult Joining::Missing() const {
  std::vector<std::string> missing;
  std::string failed_agent;
  for (size_t i = 1; i < membership_.members.size(); ++i) {
    if (joined_.contains(static_cast<int32_t>(i))) continue;
    missing.push_back(NameOf(membership_.members[i]));
    if (failed_agent.empty()) failed_agent = membership_.members[i].agent;
  }
  trial::TrialResult result = trial::FailedResult(
      absl::StrCat(absl::StrJoin(missing, " and "), " did not join at ",
                   membership_.listener->rendezvous(), " within ", timing_.join_s, " s"),
      trial::Fault::kNetwork);
  result.failed_agent = std::move(failed_agent);
  return result;
}

void Joining::WaitForSomething() const {
  std::vector<pollfd> descriptors;
  for (const Unknown& unknown : unknown_) unknown.link.AddDescriptor(descriptors);
  for (const auto& [number, remote] : joined_) remote->AddDescriptor(descriptors);
  ::poll(descriptors.data(), descriptors.size(), kJoiningPollMs);
}

}  // namespace meshwright::gang
