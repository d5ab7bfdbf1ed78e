#include "tools/cli/launcher/agent_jobs.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace meshwright::cli {
namespace {

void Say(LogLevel level, const std::string& agent, absl::string_view message,
         JobDecisions& decisions) {
  decisions.log.push_back(
      {.level = level, .message = absl::StrCat(agent, ": ", message), .about = {.agent = agent}});
}

std::string InBrackets(const std::string& text) {
  return text.empty() ? "" : absl::StrCat(" (", text, ")");
}

std::string OnNode(const std::string& node) {
  return node.empty() ? "" : absl::StrCat(" on ", node);
}

std::string SecondsText(absl::Duration duration) {
  return absl::StrCat(absl::ToInt64Seconds(duration), " s");
}

}  // namespace

AgentJobs::AgentJobs(const std::vector<std::string>& names, const JobPolicy& policy)
    : policy_(policy), target_{.jobs = static_cast<int32_t>(names.size())} {
  for (const std::string& name : names) entries_.push_back({.name = name});
}

JobDecisions AgentJobs::Observe(MonotonicTime now, const std::vector<QueuedJob>& queue) {
  std::map<std::string_view, std::vector<const QueuedJob*>> jobs;
  for (const QueuedJob& job : queue) jobs[job.name].push_back(&job);
  JobDecisions decisions;
  live_ = 0;
  for (Entry& entry : entries_) ObserveEntry(now, jobs[entry.name], entry, decisions);
  if (!stopping_) SubmitWanted(now, decisions);
  return decisions;
}

bool AgentJobs::IsTaken(MonotonicTime now, const Entry& entry) const {
  if (entry.let_go || target_.closed.contains(entry.name)) return false;
  return !entry.job.empty() || (entry.given_up.empty() && now < entry.next);
}

void AgentJobs::SubmitWanted(MonotonicTime now, JobDecisions& decisions) const {
  int64_t taken = std::count_if(entries_.begin(), entries_.end(),
                                [&](const Entry& entry) { return IsTaken(now, entry); });
  for (const Entry& entry : entries_) {
    if (taken >= target_.jobs) return;
    const bool is_free = entry.job.empty() && entry.given_up.empty() && now >= entry.next &&
                         !target_.closed.contains(entry.name);
    if (!is_free) continue;
    decisions.submit.push_back(entry.name);
    ++taken;
  }
}

void AgentJobs::ObserveEntry(MonotonicTime now, const std::vector<const QueuedJob*>& jobs,
                             Entry& entry, JobDecisions& decisions) {
  bool known = entry.job.empty();
  for (const QueuedJob* job : jobs) {
    const bool live = job->phase != JobPhase::kEnded;
    if (live) ++live_;
    if (live && entry.job.empty() && entry.given_up.empty() && !stopping_) {
      entry.job = job->id;
      known = true;
    }
    if (job->id == entry.job) {
      known = true;
      Follow(now, *job, entry, decisions);
      if (!live) End(now, absl::StrCat(job->state, InBrackets(job->reason)), entry, decisions);
    } else if (live && job->phase != JobPhase::kEnding && !stopping_) {
      Say(LogLevel::kWarning, entry.name,
          absl::StrCat("cancels job ", job->id, ", which this agent does not need"), decisions);
      decisions.cancel.push_back(job->id);
    }
    const bool is_to_end = stopping_ || (entry.let_go && job->id == entry.job);
    if (live && job->phase != JobPhase::kEnding && is_to_end) decisions.cancel.push_back(job->id);
  }
  const bool is_told_to_end = stopping_ || entry.let_go;
  if (!known) {
    End(now, is_told_to_end ? "it was told to" : "a job that the queue has forgotten", entry,
        decisions);
  }
}

void AgentJobs::Follow(MonotonicTime now, const QueuedJob& job, Entry& entry,
                       JobDecisions& decisions) {
  if (!job.node.empty()) entry.node = job.node;
  entry.phase = job.phase;
  if (job.phase != JobPhase::kWaiting) entry.waiting_since = MonotonicTime::Never();
  std::string news;
  entry.reason.clear();
  if (job.phase == JobPhase::kWaiting) {
    entry.node = job.node;
    entry.reason = job.reason;
    entry.waiting_since = std::min(entry.waiting_since, now);
    entry.running_since = MonotonicTime::Never();
    news = absl::StrCat("waits", InBrackets(job.reason));
  } else if (job.phase == JobPhase::kRunning) {
    entry.running_since = std::min(entry.running_since, now);
    news = absl::StrCat("runs", OnNode(job.node));
    if (!absl::EqualsIgnoreCase(job.state, "running")) absl::StrAppend(&news, " (", job.state, ")");
  } else if (job.phase == JobPhase::kEnding) {
    news = "is ending";
  }
  if (news.empty() || news == entry.told) return;
  entry.told = news;
  Say(LogLevel::kInfo, entry.name, absl::StrCat("job ", job.id, " ", news), decisions);
}

void AgentJobs::End(MonotonicTime now, const std::string& how, Entry& entry,
                    JobDecisions& decisions) {
  const absl::Duration ran = entry.running_since == MonotonicTime::Never()
                                 ? absl::ZeroDuration()
                                 : now.since_start - entry.running_since.since_start;
  const std::string what = absl::StrCat("job ", entry.job, " ended as ", how, " after ",
                                        SecondsText(ran), OnNode(entry.node));
  const bool was_let_go = entry.let_go;
  entry = {.name = entry.name, .failures = entry.failures, .next = entry.next};
  if (stopping_ || was_let_go) {
    entry.failures = 0;
    entry.next = now;
    Say(LogLevel::kInfo, entry.name, what, decisions);
  } else if (ran >= policy_.settled_after) {
    entry.failures = 0;
    entry.next = now;
    Say(LogLevel::kWarning, entry.name, absl::StrCat(what, "; submits another"), decisions);
  } else {
    Fail(now, what, entry, decisions);
  }
}

void AgentJobs::Fail(MonotonicTime now, const std::string& what, Entry& entry,
                     JobDecisions& decisions) {
  ++entry.failures;
  if (entry.failures >= policy_.most_failures) {
    entry.given_up = what;
    Say(LogLevel::kError, entry.name,
        absl::StrCat("is given up: in ", entry.failures, " tries in a row, no job ran for ",
                     SecondsText(policy_.settled_after), "; the last: ", what),
        decisions);
    return;
  }
  absl::Duration pause = policy_.first_pause;
  for (int32_t i = 1; i < entry.failures; ++i) pause = std::min(2 * pause, policy_.longest_pause);
  entry.next = now + pause;
  Say(LogLevel::kWarning, entry.name,
      absl::StrCat(what, "; submits another in ", SecondsText(pause)), decisions);
}

void AgentJobs::Submitted(std::string_view name, const std::string& job) {
  EntryOf(name).job = job;
}

JobDecisions AgentJobs::NotSubmitted(MonotonicTime now, std::string_view name,
                                     const absl::Status& why) {
  JobDecisions decisions;
  Fail(now, absl::StrCat("no job could be submitted: ", why.message()), EntryOf(name), decisions);
  return decisions;
}

std::vector<AgentJob> AgentJobs::Jobs() const {
  std::vector<AgentJob> jobs;
  for (const Entry& entry : entries_) {
    if (!entry.job.empty() && !entry.let_go) {
      jobs.push_back({.agent = entry.name,
                      .id = entry.job,
                      .phase = entry.phase,
                      .reason = entry.reason,
                      .waiting_since = entry.waiting_since,
                      .running_since = entry.running_since});
    }
  }
  return jobs;
}

std::string AgentJobs::LetGo(std::string_view name) {
  Entry& entry = EntryOf(name);
  entry.let_go = !entry.job.empty();
  return entry.job;
}

AgentJobs::Entry& AgentJobs::EntryOf(std::string_view name) {
  return *std::find_if(entries_.begin(), entries_.end(),
                       [&](const Entry& entry) { return entry.name == name; });
}

absl::Status AgentJobs::GivenUp() const {
  std::vector<std::string> reasons;
  for (const Entry& entry : entries_) {
    if (entry.given_up.empty()) return absl::OkStatus();
    reasons.push_back(absl::StrCat(entry.name, ": ", entry.given_up));
  }
  constexpr size_t kShown = 4;
  const size_t more = reasons.size() - std::min(reasons.size(), kShown);
  reasons.resize(reasons.size() - more);
  return absl::AbortedError(absl::StrCat("every agent is given up; ", absl::StrJoin(reasons, "; "),
                                         more > 0 ? absl::StrCat("; and ", more, " more") : ""));
}

}  // namespace meshwright::cli
