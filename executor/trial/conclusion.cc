#include "executor/trial/conclusion.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/trial/stop_rule.h"
#include "executor/trial/utilisation.h"
#include "planner/measurement/metrics.h"

namespace meshwright::trial {
namespace {

int32_t StepsFinishedByAll(const std::vector<RankRecord>& records) {
  int32_t steps = records.empty() ? 0 : records.front().finished_steps();
  for (const RankRecord& record : records) steps = std::min(steps, record.finished_steps());
  return steps;
}

// A step takes as long as its slowest rank.
double StepTime(const std::vector<RankRecord>& records, int32_t step) {
  double slowest = 0.0;
  for (const RankRecord& record : records) {
    const auto time = record.step_times_s.find(step);
    if (time != record.step_times_s.end()) slowest = std::max(slowest, time->second);
  }
  return slowest;
}

std::optional<double> LossOf(const std::vector<RankRecord>& records, int32_t step) {
  for (const RankRecord& record : records) {
    const auto loss = record.losses.find(step);
    if (loss != record.losses.end()) return loss->second;
  }
  return std::nullopt;
}

// Returns nothing unless every rank reported its part.
std::optional<double> GradientNormOf(const std::vector<RankRecord>& records, int32_t step) {
  double square_sum = 0.0;
  for (const RankRecord& record : records) {
    const auto part = record.gradient_square_sums.find(step);
    if (part == record.gradient_square_sums.end()) return std::nullopt;
    square_sum += part->second;
  }
  return std::sqrt(square_sum);
}

// Returns 0 if the plan has no figure.
int64_t OnRank(const std::vector<int64_t>& by_pipeline_rank, int32_t pipeline_rank) {
  const auto rank = static_cast<size_t>(pipeline_rank);
  return rank < by_pipeline_rank.size() ? by_pipeline_rank[rank] : 0;
}

// Returns mean profiles of the timed steps, by rank.
std::vector<StepProfile> ProfilesOf(const std::vector<RankRecord>& records, int32_t steps) {
  std::vector<std::vector<StepProfile>> by_rank(records.size());
  for (int32_t step = FirstTimedStep(steps); step < steps; ++step) {
    std::vector<StepProfile> ranks;
    ranks.reserve(records.size());
    for (const RankRecord& record : records) ranks.push_back(record.profiles.at(step));
    MatchMessages(ranks);
    for (size_t i = 0; i < ranks.size(); ++i) by_rank[i].push_back(std::move(ranks[i]));
  }
  std::vector<StepProfile> means;
  means.reserve(by_rank.size());
  for (const std::vector<StepProfile>& profiles : by_rank) means.push_back(MeanOf(profiles));
  return means;
}

void AddProfiles(const std::vector<RankRecord>& records, int32_t steps, TrialResult& result) {
  if (steps == 0) return;
  std::vector<StepProfile> profiles = ProfilesOf(records, steps);
  for (size_t i = 0; i < profiles.size(); ++i) {
    result.ranks[i].phases = profiles[i].phases;
    result.ranks[i].communication = std::move(profiles[i].communication);
  }
}

// Fills in the figures that do not depend on the outcome.
TrialResult Measured(const TrialPlan& plan, const std::vector<RankRecord>& records) {
  TrialResult result;
  const int32_t steps = StepsFinishedByAll(records);
  for (int32_t step = 0; step < steps; ++step) {
    result.step_times_s.push_back(StepTime(records, step));
    if (const auto loss = LossOf(records, step)) result.losses.push_back(*loss);
    if (const auto norm = GradientNormOf(records, step)) result.gradient_norms.push_back(*norm);
  }
  for (const RankRecord& record : records) {
    result.ranks.push_back(
        {.rank = record.rank,
         .pipeline_rank = record.pipeline_rank,
         .peak_bytes = record.peak_bytes,
         .estimated_bytes = OnRank(plan.estimated_bytes, record.pipeline_rank),
         .peak_host_bytes = record.peak_host_bytes,
         .estimated_host_bytes = OnRank(plan.estimated_host_bytes, record.pipeline_rank),
         .peak_in_flight = record.peak_in_flight,
         .device_memory = record.device_memory,
         .estimated_communicator_bytes =
             OnRank(plan.estimated_communicator_bytes, record.pipeline_rank),
         .expert_load = record.expert_load,
         .expert_tokens = record.expert_tokens,
         .estimated_routed_bytes = record.estimated_routed_bytes});
    if (result.host.empty()) result.host = record.host;
    if (result.worker_version.empty()) result.worker_version = record.version;
  }
  AddProfiles(records, steps, result);
  return result;
}

std::string WhichRank(const RankRecord& record) {
  return absl::StrCat("rank ", record.rank, " (pipeline rank ", record.pipeline_rank, ")");
}

// Adds a sentence on the first rank with trouble after it was done, and on how many more have some.
// Returns that rank; null if none has.
const RankRecord* AddTroubleAfterDone(const std::vector<RankRecord>& records,
                                      std::vector<std::string>& sentences) {
  std::vector<const RankRecord*> troubled;
  for (const RankRecord& record : records) {
    if (!record.after_done.empty()) troubled.push_back(&record);
  }
  if (troubled.empty()) return nullptr;
  std::string& sentence =
      sentences.emplace_back(absl::StrCat(WhichRank(*troubled.front()), " was done, but then ",
                                          absl::StrJoin(troubled.front()->after_done, " and ")));
  if (troubled.size() > 1) absl::StrAppend(&sentence, ", like ", troubled.size() - 1, " more");
  return troubled.front();
}

void AddLeftProcesses(const std::vector<RankRecord>& records, std::vector<std::string>& sentences) {
  for (const RankRecord& record : records) {
    if (!record.left_pid.has_value()) continue;
    sentences.push_back(absl::StrCat(
        "the process of rank ", record.rank, " (pid ", *record.left_pid,
        ") could not be killed, perhaps because a driver holds it, and may still run"));
  }
}

// Returns whether trouble after a rank was done belongs in the message beside `cause`. It may be
// why other ranks lost their peer; any other failure explains it.
bool MayMatter(const RankRecord* cause) {
  return cause == nullptr || cause->failure->kind == FailureKind::kCommunication;
}

// Joins `sentences` and appends the tail of `speaker`'s output, if any.
std::string Message(const std::vector<std::string>& sentences, const RankRecord* speaker) {
  std::string message = absl::StrJoin(sentences, "; ");
  if (speaker != nullptr && !speaker->output_tail.empty()) {
    absl::StrAppend(&message, "\n", speaker->output_tail);
  }
  return message;
}

std::string OomMessage(const RankRecord& record) {
  const OomDetail& oom = *record.oom;
  // Some libraries do not report the requested size.
  const std::string requested =
      oom.requested_bytes > 0 ? absl::StrCat(oom.requested_bytes, " bytes") : "memory";
  return absl::StrCat(WhichRank(record), " ran out of memory: ", requested, " requested with ",
                      oom.held_bytes, " held of ", oom.limit_bytes, " allowed");
}

std::string FailureMessage(const RankRecord& cause) {
  std::string message = absl::StrCat(WhichRank(cause), " ", cause.failure->message);
  if (cause.begun_steps > cause.finished_steps()) {
    absl::StrAppend(&message, ", in step ", cause.begun_steps - 1);
  } else if (!cause.done) {
    absl::StrAppend(&message, ", before step ", cause.finished_steps());
  }
  return message;
}

void AddSpeed(const TrialPlan& plan, const std::vector<RankRecord>& records, TrialResult& result) {
  double peak = 0.0;
  for (const RankRecord& record : records) peak += record.measured_peak_flops;
  result.measured_peak_flops = peak / static_cast<double>(records.size());
  const int32_t first = FirstTimedStep(static_cast<int32_t>(result.step_times_s.size()));
  const std::vector<double> timed_s(result.step_times_s.begin() + first, result.step_times_s.end());
  result.step_s = planner::Median(timed_s).value_or(0.0);
  result.step_interval = MedianConfidence(timed_s);
  result.stop_reason = records.front().stop_reason;
  AddUtilisation(plan, static_cast<int64_t>(records.size()), result);
}

}  // namespace

const RankRecord* Cause(const std::vector<RankRecord>& records) {
  const RankRecord* cause = nullptr;
  for (const RankRecord& record : records) {
    if (!record.failure.has_value()) continue;
    if (cause == nullptr || record.failure->kind < cause->failure->kind) cause = &record;
  }
  return cause;
}

TrialResult Conclude(const TrialPlan& plan, const std::vector<RankRecord>& records) {
  TrialResult result = Measured(plan, records);
  const RankRecord* cause = Cause(records);
  const RankRecord* speaker = nullptr;
  std::vector<std::string> sentences;
  if (cause == nullptr) {
    result.outcome = TrialOutcome::kOk;
    AddSpeed(plan, records, result);
  } else if (cause->oom.has_value()) {
    result.outcome = TrialOutcome::kOom;
    result.fault = Fault::kLayout;
    result.oom = cause->oom;
    sentences.push_back(OomMessage(*cause));
  } else {
    result.outcome = TrialOutcome::kFailed;
    result.fault = cause->failure->fault;
    sentences.push_back(FailureMessage(*cause));
    speaker = cause;
  }
  if (MayMatter(cause)) {
    const RankRecord* troubled = AddTroubleAfterDone(records, sentences);
    if (speaker == nullptr) speaker = troubled;
  }
  AddLeftProcesses(records, sentences);
  result.message = Message(sentences, speaker);
  return result;
}

TrialResult ConcludeTimeout(const TrialPlan& plan, const std::vector<RankRecord>& records,
                            int32_t silent_rank) {
  TrialResult result = Measured(plan, records);
  const RankRecord& record =
      *std::find_if(records.begin(), records.end(),
                    [&](const RankRecord& other) { return other.rank == silent_rank; });
  result.outcome = TrialOutcome::kTimeout;
  result.fault = Fault::kInfrastructure;
  const std::string last =
      record.finished_steps() == 0 ? "no step" : absl::StrCat("step ", record.finished_steps() - 1);
  std::vector<std::string> sentences = {absl::StrCat(WhichRank(record),
                                                     " gave no sign of life for ", plan.timeout_s,
                                                     " s; the last thing it finished was ", last)};
  AddTroubleAfterDone(records, sentences);
  AddLeftProcesses(records, sentences);
  result.message = Message(sentences, &record);
  return result;
}

TrialResult ConcludeCancelled(const TrialPlan& plan, const std::vector<RankRecord>& records) {
  TrialResult result = Measured(plan, records);
  result.outcome = TrialOutcome::kCancelled;
  std::vector<std::string> sentences = {
      absl::StrCat("cancelled after ", StepsFinishedByAll(records), " of ", plan.steps, " steps")};
  AddLeftProcesses(records, sentences);
  result.message = Message(sentences, nullptr);
  return result;
}

StepProfile MeanOfTimedSteps(const RankRecord& record) {
  std::vector<StepProfile> steps;
  for (int32_t step = FirstTimedStep(record.finished_steps()); step < record.finished_steps();
       ++step) {
    steps.push_back(record.profiles.at(step));
  }
  return MeanOf(steps);
}

int32_t FurthestBehind(const std::vector<RankRecord>& records) {
  const RankRecord* behind = nullptr;
  for (const RankRecord& record : records) {
    if (record.done) continue;
    if (behind == nullptr || record.begun_steps < behind->begun_steps) behind = &record;
  }
  return behind == nullptr ? 0 : behind->rank;
}

FinishedStep LastFinishedStep(const std::vector<RankRecord>& records) {
  FinishedStep finished{.steps = StepsFinishedByAll(records)};
  if (finished.steps == 0) return finished;
  finished.step_s = StepTime(records, finished.steps - 1);
  finished.loss = LossOf(records, finished.steps - 1);
  return finished;
}

}  // namespace meshwright::trial
