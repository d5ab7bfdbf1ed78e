#include "tools/cli/launcher/job_slots.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace meshwright::cli {
namespace {

using host::LogLevel;
using host::MonotonicTime;

void Say(LogLevel level, const std::string& agent, absl::string_view message,
         SlotDecisions& decisions) {
  decisions.log.push_back(
      {.level = level, .message = absl::StrCat(agent, ": ", message), .about = {.agent = agent}});
}

std::string InBrackets(const std::string& text) {
  return text.empty() ? "" : absl::StrCat(" (", text, ")");
}

std::string OnNode(const std::string& node) {
  return node.empty() ? "" : absl::StrCat(" on ", node);
}

std::string Seconds(absl::Duration duration) {
  return absl::StrCat(absl::ToInt64Seconds(duration), " s");
}

}  // namespace

JobSlots::JobSlots(const std::vector<std::string>& names, const SlotPolicy& policy)
    : policy_(policy), target_{.jobs = static_cast<int32_t>(names.size())} {
  for (const std::string& name : names) slots_.push_back({.name = name});
}

SlotDecisions JobSlots::Observe(MonotonicTime now, const std::vector<QueuedJob>& queue) {
  std::map<std::string_view, std::vector<const QueuedJob*>> jobs;
  for (const QueuedJob& job : queue) jobs[job.name].push_back(&job);
  SlotDecisions decisions;
  live_ = 0;
  for (Slot& slot : slots_) ObserveSlot(now, jobs[slot.name], slot, decisions);
  if (!stopping_) SubmitWanted(now, decisions);
  return decisions;
}

bool JobSlots::IsTaken(MonotonicTime now, const Slot& slot) const {
  if (slot.let_go || target_.closed.contains(slot.name)) return false;
  return !slot.job.empty() || (slot.given_up.empty() && now < slot.next);
}

void JobSlots::SubmitWanted(MonotonicTime now, SlotDecisions& decisions) const {
  int64_t taken = std::count_if(slots_.begin(), slots_.end(),
                                [&](const Slot& slot) { return IsTaken(now, slot); });
  for (const Slot& slot : slots_) {
    if (taken >= target_.jobs) return;
    const bool is_free = slot.job.empty() && slot.given_up.empty() && now >= slot.next &&
                         !target_.closed.contains(slot.name);
    if (!is_free) continue;
    decisions.submit.push_back(slot.name);
    ++taken;
  }
}

void JobSlots::ObserveSlot(MonotonicTime now, const std::vector<const QueuedJob*>& jobs, Slot& slot,
                           SlotDecisions& decisions) {
  bool known = slot.job.empty();
  for (const QueuedJob* job : jobs) {
    const bool live = job->phase != JobPhase::kEnded;
    if (live) ++live_;
    if (live && slot.job.empty() && slot.given_up.empty() && !stopping_) {
      slot.job = job->id;
      known = true;
    }
    if (job->id == slot.job) {
      known = true;
      Follow(now, *job, slot, decisions);
      if (!live) End(now, absl::StrCat(job->state, InBrackets(job->reason)), slot, decisions);
    } else if (live && job->phase != JobPhase::kEnding && !stopping_) {
      Say(LogLevel::kWarning, slot.name,
          absl::StrCat("job ", job->id, " is one too many; cancels it"), decisions);
      decisions.cancel.push_back(job->id);
    }
    const bool is_to_end = stopping_ || (slot.let_go && job->id == slot.job);
    if (live && job->phase != JobPhase::kEnding && is_to_end) decisions.cancel.push_back(job->id);
  }
  if (!known) End(now, "a job that the queue has forgotten", slot, decisions);
}

void JobSlots::Follow(MonotonicTime now, const QueuedJob& job, Slot& slot,
                      SlotDecisions& decisions) {
  if (!job.node.empty()) slot.node = job.node;
  slot.phase = job.phase;
  std::string news;
  if (job.phase == JobPhase::kWaiting) {
    news = absl::StrCat("waits", InBrackets(job.reason));
  } else if (job.phase == JobPhase::kRunning) {
    slot.running_since = std::min(slot.running_since, now);
    news = absl::StrCat("runs", OnNode(job.node));
    if (job.state != "RUNNING") absl::StrAppend(&news, " (", job.state, ")");
  } else if (job.phase == JobPhase::kEnding) {
    news = "is ending";
  }
  if (news.empty() || news == slot.told) return;
  slot.told = news;
  Say(LogLevel::kInfo, slot.name, absl::StrCat("job ", job.id, " ", news), decisions);
}

void JobSlots::End(MonotonicTime now, const std::string& how, Slot& slot,
                   SlotDecisions& decisions) {
  const absl::Duration ran = slot.running_since == MonotonicTime::Never()
                                 ? absl::ZeroDuration()
                                 : now.since_start - slot.running_since.since_start;
  const std::string what =
      absl::StrCat("job ", slot.job, " ended as ", how, " after ", Seconds(ran), OnNode(slot.node));
  slot.job.clear();
  slot.told.clear();
  slot.node.clear();
  slot.running_since = MonotonicTime::Never();
  slot.phase = JobPhase::kWaiting;
  const bool was_let_go = std::exchange(slot.let_go, false);
  if (stopping_ || was_let_go) {
    slot.failures = 0;
    slot.next = now;
    Say(LogLevel::kInfo, slot.name, what, decisions);
  } else if (ran >= policy_.settled_after) {
    slot.failures = 0;
    slot.next = now;
    Say(LogLevel::kWarning, slot.name, absl::StrCat(what, "; submits another"), decisions);
  } else {
    Fail(now, what, slot, decisions);
  }
}

void JobSlots::Fail(MonotonicTime now, const std::string& what, Slot& slot,
                    SlotDecisions& decisions) {
  ++slot.failures;
  if (slot.failures >= policy_.most_failures) {
    slot.given_up = what;
    Say(LogLevel::kError, slot.name,
        absl::StrCat("is given up: ", slot.failures, " times in a row no job of it ran for ",
                     Seconds(policy_.settled_after), "; ", what),
        decisions);
    return;
  }
  absl::Duration pause = policy_.first_pause;
  for (int32_t i = 1; i < slot.failures; ++i) pause = std::min(2 * pause, policy_.longest_pause);
  slot.next = now + pause;
  Say(LogLevel::kWarning, slot.name, absl::StrCat(what, "; submits another in ", Seconds(pause)),
      decisions);
}

void JobSlots::Submitted(std::string_view name, const std::string& job) { SlotOf(name).job = job; }

SlotDecisions JobSlots::NotSubmitted(MonotonicTime now, std::string_view name,
                                     const absl::Status& why) {
  SlotDecisions decisions;
  Fail(now, absl::StrCat("no job could be submitted: ", why.message()), SlotOf(name), decisions);
  return decisions;
}

std::vector<SlotJob> JobSlots::Jobs() const {
  std::vector<SlotJob> jobs;
  for (const Slot& slot : slots_) {
    if (!slot.job.empty() && !slot.let_go) {
      jobs.push_back(
          {.agent = slot.name, .phase = slot.phase, .running_since = slot.running_since});
    }
  }
  return jobs;
}

std::string JobSlots::LetGo(std::string_view name) {
  Slot& slot = SlotOf(name);
  slot.let_go = !slot.job.empty();
  return slot.job;
}

JobSlots::Slot& JobSlots::SlotOf(std::string_view name) {
  return *std::find_if(slots_.begin(), slots_.end(),
                       [&](const Slot& slot) { return slot.name == name; });
}

absl::Status JobSlots::GivenUp() const {
  std::vector<std::string> reasons;
  for (const Slot& slot : slots_) {
    if (slot.given_up.empty()) return absl::OkStatus();
    reasons.push_back(absl::StrCat(slot.name, ": ", slot.given_up));
  }
  constexpr size_t kShown = 4;
  const size_t more = reasons.size() - std::min(reasons.size(), kShown);
  reasons.resize(reasons.size() - more);
  return absl::AbortedError(absl::StrCat("every agent is given up; ", absl::StrJoin(reasons, "; "),
                                         more > 0 ? absl::StrCat("; and ", more, " more") : ""));
}

}  // namespace meshwright::cli
