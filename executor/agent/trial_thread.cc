#include "executor/agent/trial_thread.h"

#include <utility>

namespace meshwright::agent {

TrialThread::TrialThread(TrialRunners runners, std::string worker_path, Callbacks callbacks)
    : runners_(std::move(runners)),
      worker_path_(std::move(worker_path)),
      callbacks_(std::move(callbacks)),
      thread_([this] { Loop(); }) {}

TrialThread::~TrialThread() {
  {
    absl::MutexLock lock(&mutex_);
    ending_ = true;
    cancel_.store(true);
  }
  jobs_.Push(std::nullopt);
  thread_.join();
}

void TrialThread::Start(const AttemptKey& key, const trial::TrialPlan& plan,
                        std::optional<gang::Place> place) {
  jobs_.Push(Job{key, plan, std::move(place)});
}

void TrialThread::Cancel(const AttemptKey& key) {
  absl::MutexLock lock(&mutex_);
  if (current_ == key) {
    cancel_.store(true);
  } else {
    cancelled_ = key;
  }
}

void TrialThread::Loop() {
  while (true) {
    const std::optional<Job> job = jobs_.Pop();
    if (!job) return;
    RunJob(*job);
  }
}

void TrialThread::RunJob(const Job& job) {
  {
    absl::MutexLock lock(&mutex_);
    current_ = job.key;
    cancel_.store(ending_ || cancelled_ == job.key);
    cancelled_.reset();
  }
  trial::TrialResult result;
  if (cancel_.load()) {
    result = trial::CancelledResult("cancelled before it began");
  } else {
    result = Run(job);
  }
  {
    absl::MutexLock lock(&mutex_);
    current_.reset();
  }
  callbacks_.done(job.key, result);
}

trial::TrialResult TrialThread::Run(const Job& job) {
  trial::TrialRunnerOptions options;
  options.worker_path = worker_path_;
  options.cancel = &cancel_;
  options.progress = [&](const trial::TrialProgress& progress) {
    callbacks_.progress(job.key, progress);
  };
  options.warn = [&](const std::string& text) {
    if (callbacks_.warn) callbacks_.warn(job.key, text);
  };
  if (job.place) {
    // Whether it is measured again all members have to agree on.
    return runners_.together(job.plan, *job.place, options);
  }
  trial::TrialPlan plan = job.plan;
  double& peak_flops = peak_flops_[{plan.device, plan.training.precision, plan.layout.devices()}];
  plan.known_peak_flops = peak_flops;
  trial::TrialResult result = runners_.alone(plan, options);
  if (result.outcome == trial::TrialOutcome::kOk) peak_flops = result.measured_peak_flops;
  return result;
}

}  // namespace meshwright::agent
