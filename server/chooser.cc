#include "server/chooser.h"

#include <utility>

namespace meshwright::server {

Chooser::Chooser() : thread_([this] { Run(); }) {}

void Chooser::Ask(ChoiceQuestion question, Done done) {
  absl::MutexLock lock(&mutex_);
  if (!stopped_) asked_.push_back({std::move(question), std::move(done)});
}

void Chooser::Flush() {
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(this, &Chooser::IsIdle));
}

void Chooser::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    stopped_ = true;
    asked_.clear();
  }
  if (thread_.joinable()) thread_.join();
}

void Chooser::Run() {
  while (true) {
    Asked asked;
    {
      absl::MutexLock lock(&mutex_);
      is_busy_ = false;
      mutex_.Await(absl::Condition(this, &Chooser::HasWorkOrStops));
      if (stopped_) return;
      asked = std::move(asked_.front());
      asked_.pop_front();
      is_busy_ = true;
    }
    asked.done(Answer(asked.question));
  }
}

}  // namespace meshwright::server
