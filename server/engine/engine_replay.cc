#include "server/engine/engine_replay.h"

#include <deque>
#include <memory>
#include <utility>
#include <variant>

#include "planner/layout/layout.h"
#include "server/engine/engine_core.h"

namespace meshwright::server {
namespace {

constexpr char kAgent[] = "recorded";

SweepStored SweepOf(absl::Span<const planner::ReplayCandidate> candidates, int32_t max_trials,
                    double min_gain) {
  SweepStored stored;
  stored.sweep.id = 1;
  stored.sweep.name = kAgent;
  stored.sweep.devices = 1;
  stored.sweep.max_trials = max_trials;
  stored.sweep.min_gain = min_gain;
  for (const planner::ReplayCandidate& candidate : candidates) {
    db::TrialSummary& summary = stored.trials.emplace_back();
    summary.number = static_cast<int32_t>(stored.trials.size());
    summary.layout = planner::FormatLayout(candidate.layout);
    summary.has_begun = false;
    summary.predicted_step_s = candidate.step_s;
    summary.oom_probability = candidate.oom_probability;
  }
  return stored;
}

std::shared_ptr<const DigestedResult> ResultOf(const planner::TrialFinding& finding) {
  auto digested = std::make_shared<DigestedResult>();
  digested->result.fault = trial::Fault::kLayout;
  switch (finding.end) {
    case planner::TrialEnd::kMeasured:
      digested->result.outcome = trial::TrialOutcome::kOk;
      digested->result.step_s = finding.step_s;
      digested->measured.step_s = finding.step_s;
      digested->measured.step_noise = finding.noise;
      break;
    case planner::TrialEnd::kOutOfMemory:
      digested->result.outcome = trial::TrialOutcome::kOom;
      break;
    case planner::TrialEnd::kFailed:
    case planner::TrialEnd::kRunning:
      digested->result.outcome = trial::TrialOutcome::kFailed;
      break;
  }
  return digested;
}

// Recorded runs the core against recorded results: it answers the core's questions and plays the
// only agent.
class Recorded {
 public:
  explicit Recorded(const planner::RunRecorded& run) : run_(run) {}

  planner::ChosenTrials Run(SweepStored stored) {
    AgentInfo info;
    info.name = kAgent;
    info.device_kind = stored.sweep.device_kind;
    info.devices = 1;
    Tell(std::move(stored));
    Tell(AgentConnected{.info = info, .connection = 1, .held = {}});
    while (!events_.empty()) {
      EngineEvent event = std::move(events_.front());
      events_.pop_front();
      Tell(std::move(event));
    }
    // The engine asks for no trial where none is left.
    if (trials_.stop == planner::TrialStop::kNone) {
      planner::TrialChoice none;
      none.stop = planner::TrialStop::kAllRan;
      trials_.stop = none.stop;
      trials_.stop_reason = planner::ReasonOf(none, {});
    }
    return std::move(trials_);
  }

 private:
  // Queues the events that follow from this one behind those already queued.
  void Tell(EngineEvent event) {
    const EngineOutput output = core_.Handle({absl::UnixEpoch(), {}, std::move(event)});
    for (const ChoiceQuestion& question : output.questions) {
      ChoiceMade made = Answer(question);
      trials_.stop = made.stop;
      trials_.stop_reason = made.stop_reason;
      if (!made.trials.empty()) why_ = made.trials.front().reason;
      events_.emplace_back(std::move(made));
    }
    for (const Send& send : output.sends) {
      const auto* assign = std::get_if<AssignOrder>(&send.order);
      if (assign == nullptr) continue;
      const auto candidate = static_cast<size_t>(assign->key.trial - 1);
      trials_.candidates.push_back(candidate);
      trials_.reasons.push_back(why_);
      events_.emplace_back(TrialFinished{kAgent, assign->key, ResultOf(run_(candidate))});
    }
  }

  const planner::RunRecorded& run_;
  EngineCore core_{EngineOptions()};
  std::deque<EngineEvent> events_;
  std::string why_;  // why the trial chosen last was chosen
  planner::ChosenTrials trials_;
};

}  // namespace

planner::ChosenTrials RunByEngine(absl::Span<const planner::ReplayCandidate> candidates,
                                  const planner::RunRecorded& run, int32_t max_trials,
                                  double min_gain, const planner::RelatedSweeps& related_sweeps) {
  SweepStored stored = SweepOf(candidates, max_trials, min_gain);
  stored.related_sweeps = related_sweeps;
  return Recorded(run).Run(std::move(stored));
}

}  // namespace meshwright::server
