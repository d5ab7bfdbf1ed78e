// The part of Agent that handles assignments.
#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "executor/agent/agent.h"
#include "executor/wire/wire.h"
#include "nlohmann/json.hpp"

namespace meshwright::agent {
namespace {

trial::TrialResult CantRun(const absl::Status& status) {
  return trial::FailedResult(absl::StrCat("the agent can't run this plan: ", status.message()),
                             trial::Fault::kLayout);
}

// Returns the slots for `ranks` ranks of the plan, after checking that they are for the agent's
// devices.
absl::StatusOr<wire::DeviceShare> ShareFor(const trial::TrialPlan& plan, int64_t ranks,
                                           int32_t first_device, const wire::DeviceSet& devices) {
  const std::string_view kind = planner::DeviceKindName(devices.kind);
  if (plan.device != devices.kind) {
    const std::string_view wanted = planner::DeviceKindName(plan.device);
    return FieldError("device", wanted,
                      absl::StrCat("must be ", AbslView(kind), ", which the agent has"));
  }
  return wire::ShareOf(devices, first_device, ranks);
}

absl::StatusOr<trial::TrialPlan> PlanOf(const v1::Assignment& assignment) {
  ASSIGN_OR_RETURN(const nlohmann::json json,
                   ParseJson("plan", assignment.plan_json(), kMaxSpecBytes));
  return trial::TrialPlanFromJson(json);
}

// InvalidArgument where the members don't cover all of `ranks`, or this agent is not among them.
absl::StatusOr<gang::Membership> MembershipOf(const v1::Gang& gang, int64_t ranks,
                                              const std::string& address) {
  gang::Membership membership{.member = gang.member(), .secret = gang.secret(), .address = address};
  for (const v1::AttemptMember& member : gang.members()) {
    membership.members.push_back(
        {.agent = member.agent(), .first_rank = member.first_rank(), .ranks = member.ranks()});
  }
  RETURN_IF_ERROR(gang::CheckMembers(membership.members, ranks));
  RETURN_IF_ERROR(CheckRange("gang.member", gang.member(), 0, gang.members_size() - 1));
  return membership;
}

// Checks that the agent has the runner, with the same file, and that it can run its ranks by it.
absl::Status CheckRunner(const TrialJob& job, const AgentOptions& options) {
  if (!job.plan.runner) return absl::OkStatus();
  const trial::RunnerChoice& runner = *job.plan.runner;
  for (const wire::RunnerOffer& offer : options.offers) {
    if (offer.name != runner.name || offer.hash != runner.hash) continue;
    if (!job.membership || offer.runs_on_several_nodes) return absl::OkStatus();
    return FieldError(
        "runner", runner.name,
        "must not divide its ranks over several agents: its command lacks {node}, {address} "
        "or {port}, with which the commands of several nodes find each other");
  }
  return FieldError("runner", runner.name,
                    "is no runner of this agent, or the agent has another file for it");
}

// Returns the part of an attempt that the agent has to run.
absl::StatusOr<TrialJob> JobOf(const v1::Assignment& assignment, const wire::AttemptKey& key,
                               const AgentOptions& options) {
  TrialJob job{.key = key, .plan = {}, .share = {}};
  ASSIGN_OR_RETURN(job.plan, PlanOf(assignment));
  int64_t ranks = job.plan.layout.devices();
  if (assignment.has_gang()) {
    ASSIGN_OR_RETURN(job.membership, MembershipOf(assignment.gang(), ranks, options.address));
    ranks = job.membership->own().ranks;
  }
  ASSIGN_OR_RETURN(job.share,
                   ShareFor(job.plan, ranks, assignment.first_device(), options.devices));
  RETURN_IF_ERROR(CheckRunner(job, options));
  if (options.memory_limit_bytes) {
    job.plan.memory_limit_bytes =
        std::min(*options.memory_limit_bytes,
                 job.plan.memory_limit_bytes.value_or(*options.memory_limit_bytes));
  }
  return job;
}

}  // namespace

void Agent::AnswerUnnamed(const v1::Assignment& assignment, const absl::Status& status) {
  v1::AgentMessage message;
  *message.mutable_finished()->mutable_ref() = assignment.ref();
  message.mutable_finished()->set_token(assignment.token());
  trial::TrialResult result = CantRun(status);
  result.host = options_.host;
  *message.mutable_finished()->mutable_measurement() = wire::ToWire(result);
  Log(LogLevel::kWarning, result.message);
  Send(message);
}

void Agent::OnAssignment(const v1::Assignment& assignment) {
  const absl::StatusOr<wire::AttemptKey> key = wire::FromWire(assignment.ref());
  if (!key.ok()) {
    AnswerUnnamed(assignment, key.status());
    return;
  }
  // The agent's goodbye returns the assignment to the server.
  if (leaving_) return;
  const std::vector<wire::AttemptKey> held = Held();
  if (std::find(held.begin(), held.end(), *key) != held.end()) return;
  const Running given{store_id_, *key, assignment.token()};
  absl::StatusOr<TrialJob> job = JobOf(assignment, *key, options_);
  if (!job.ok()) {
    KeepResult(given, CantRun(job.status()));
    return;
  }
  if (job->membership) {
    Prepare(given, *std::move(job));
    return;
  }
  Log(LogLevel::kInfo, absl::StrCat("runs ", planner::FormatLayout(job->plan.layout)),
      wire::AboutAttempt(*key));
  running_.push_back(given);
  trials_->Start(*std::move(job));
  TellStarted(*key);
}

void Agent::Prepare(const Running& given, TrialJob job) {
  gang::Membership& membership = *job.membership;
  v1::TrialReady ready;
  *ready.mutable_ref() = wire::ToWire(given.key);
  if (membership.leads()) {
    absl::StatusOr<std::shared_ptr<gang::Listener>> listener =
        gang::Listener::Open(options_.address);
    if (!listener.ok()) {
      KeepResult(given,
                 trial::FailedResult(listener.status().message(), trial::Fault::kInfrastructure));
      return;
    }
    membership.listener = *std::move(listener);
    ready.set_port(membership.listener->port());
  }
  Log(LogLevel::kInfo,
      absl::StrCat("is ready for ", gang::NameOf(membership.own()), " of ",
                   planner::FormatLayout(job.plan.layout)),
      wire::AboutAttempt(given.key));
  Running& running = running_.emplace_back(given);
  running.ready = ready;
  running.prepared = std::move(job);
  v1::AgentMessage message;
  *message.mutable_ready() = std::move(ready);
  Send(message);
}

void Agent::OnStart(const v1::StartAttempt& start) {
  const absl::StatusOr<wire::AttemptKey> key = wire::FromWire(start.ref());
  if (!key.ok()) return;
  Running* const running = FindRunning(*key, store_id_);
  // An attempt that has started goes on.
  if (running == nullptr || !running->prepared) return;
  TrialJob job = *std::exchange(running->prepared, std::nullopt);
  job.membership->rendezvous = start.rendezvous();
  Log(LogLevel::kInfo,
      absl::StrCat("runs ", planner::FormatLayout(job.plan.layout), " with ",
                   job.membership->members.size() - 1, " other agents, met at ",
                   start.rendezvous()),
      wire::AboutAttempt(*key));
  trials_->Start(std::move(job));
  TellStarted(*key);
}

void Agent::TellStarted(const wire::AttemptKey& key) {
  v1::AgentMessage message;
  *message.mutable_started()->mutable_ref() = wire::ToWire(key);
  Send(message);
}

Agent::Running* Agent::FindRunning(const wire::AttemptKey& key, const std::string& store_id) {
  const auto found = std::find_if(running_.begin(), running_.end(), [&](const Running& running) {
    return running.key == key && (store_id.empty() || running.store_id == store_id);
  });
  return found == running_.end() ? nullptr : &*found;
}

void Agent::EndAttempt(const wire::AttemptKey& key, const std::string& store_id,
                       const std::string& reason) {
  const Running* const running = FindRunning(key, store_id);
  if (running == nullptr || !running->prepared) {
    trials_->Cancel(key);
    return;
  }
  const Running ended = *running;
  running_.erase(running_.begin() + (running - running_.data()));
  KeepResult(ended, trial::CancelledResult(absl::StrCat("cancelled before it began: ", reason)));
}

}  // namespace meshwright::agent
