#include "executor/agent/trial_thread.h"

#include <set>

#include "gtest/gtest.h"

namespace meshwright::agent {
namespace {

struct Done {
  AttemptKey key;
  trial::TrialResult result;
};

class TrialThreadTest : public testing::Test {
 protected:
  std::unique_ptr<TrialThread> Start(TrialRunner runner) {
    return std::make_unique<TrialThread>(
        TrialRunners{.alone = std::move(runner)}, "worker",
        TrialThread::Callbacks{.progress = [](const AttemptKey&, const trial::TrialProgress&) {},
                               .done =
                                   [this](const AttemptKey& key, const trial::TrialResult& r) {
                                     done_.Push({key, r});
                                   }});
  }
  Done Next() { return *done_.Pop(absl::Seconds(20)); }

  Inbox<Done> done_;
};

trial::TrialResult UntilCancelled(const trial::TrialPlan&,
                                  const trial::TrialRunnerOptions& options) {
  while (!options.cancel->load()) absl::SleepFor(absl::Milliseconds(1));
  trial::TrialResult result;
  result.outcome = trial::TrialOutcome::kCancelled;
  return result;
}

TEST_F(TrialThreadTest, RunsEveryTrialOnOneThread) {
  std::set<std::thread::id> threads;
  auto trials = Start([&](const trial::TrialPlan&, const trial::TrialRunnerOptions& options) {
    threads.insert(std::this_thread::get_id());
    EXPECT_EQ(options.worker_path, "worker");
    trial::TrialResult result;
    result.outcome = trial::TrialOutcome::kOk;
    return result;
  });
  for (int32_t i = 1; i <= 3; ++i) trials->Start({"s", i, 1}, {});
  for (int32_t i = 1; i <= 3; ++i) EXPECT_EQ(Next().key.trial, i);
  EXPECT_EQ(threads.size(), 1u);
}

TEST_F(TrialThreadTest, CancelsOnlyTheAttemptThatIsNamed) {
  auto trials = Start(UntilCancelled);
  trials->Start({"s", 1, 1}, {});
  trials->Cancel({"s", 1, 2});
  EXPECT_FALSE(done_.Pop(absl::Milliseconds(50)).has_value());
  trials->Cancel({"s", 1, 1});
  EXPECT_EQ(Next().result.outcome, trial::TrialOutcome::kCancelled);
}

TEST_F(TrialThreadTest, ACancelledTrialThatWaitsNeverBegins) {
  auto trials = Start(UntilCancelled);
  trials->Start({"s", 1, 1}, {});
  absl::SleepFor(absl::Milliseconds(20));
  trials->Start({"s", 2, 1}, {});
  trials->Cancel({"s", 2, 1});
  trials->Cancel({"s", 1, 1});
  EXPECT_EQ(Next().key.trial, 1);
  const Done second = Next();
  EXPECT_EQ(second.key.trial, 2);
  EXPECT_EQ(second.result.message, "cancelled before it began");
}

TEST_F(TrialThreadTest, EndingKillsWhatRuns) {
  auto trials = Start(UntilCancelled);
  trials->Start({"s", 1, 1}, {});
  trials.reset();
  EXPECT_EQ(Next().result.outcome, trial::TrialOutcome::kCancelled);
}

}  // namespace
}  // namespace meshwright::agent
