#include "server/sweeps/policy_thread.h"

#include <utility>

namespace meshwright::server {

PolicyThread::PolicyThread()
    : queue_(1, [](Asked asked, size_t) {
        asked.done(Answer(asked.question));
        return std::function<void()>();
      }) {}

void PolicyThread::Ask(ChoiceQuestion question, Done done) {
  Asked asked = {std::move(question), std::move(done)};
  queue_.Offer(asked);
}

void PolicyThread::Stop() {
  queue_.Close();
  queue_.Join();
}

}  // namespace meshwright::server
