#include "executor/agent/trial_threads.h"

#include <atomic>
#include <set>

#include "executor/agent/inbox.h"
#include "executor/trial/memory_check.h"
#include "gtest/gtest.h"

namespace meshwright::agent {
namespace {

struct Done {
  wire::AttemptKey key;
  trial::TrialResult result;
};

class TrialThreadsTest : public testing::Test {
 protected:
  std::unique_ptr<TrialThreads> Start(TrialRunner runner, int32_t slots = 1) {
    TrialRunners runners{.alone = std::move(runner)};
    runners.bind = [this](const wire::DeviceShare& share) {
      const absl::MutexLock lock(&mutex_);
      bound_.push_back(share);
    };
    runners.available_memory = [this]() -> absl::StatusOr<host::MemoryRoom> {
      return host::MemoryRoom{.bytes = available_bytes_.load(), .limit = "the host"};
    };
    return std::make_unique<TrialThreads>(
        std::move(runners), "worker", slots,
        TrialThreads::Callbacks{
            .progress = [](const wire::AttemptKey&, const trial::TrialProgress&) {},
            .done =
                [this](const wire::AttemptKey& key, const trial::TrialResult& r) {
                  done_.Push({key, r});
                }});
  }
  Done Next() { return *done_.Pop(absl::Seconds(20)); }

  Inbox<Done> done_;
  std::atomic<int64_t> available_bytes_{1000};
  absl::Mutex mutex_;
  std::vector<wire::DeviceShare> bound_ ABSL_GUARDED_BY(mutex_);
};

TrialJob JobOn(int32_t trial, int32_t first_slot = 0, int32_t slots = 1) {
  return {.key = {"s", trial, 1},
          .plan = {},
          .share = {.first_device = 2 * first_slot, .first_slot = first_slot, .slots = slots}};
}

trial::TrialResult Ok(double peak_flops = 1.0) {
  trial::TrialResult result;
  result.outcome = trial::TrialOutcome::kOk;
  result.measured_peak_flops = peak_flops;
  return result;
}

// Trials that wait until a test lets them go, and what it sees of them.
class Held {
 public:
  TrialRunner Runner() {
    return [this](const trial::TrialPlan& plan, const trial::TrialRunnerOptions& options) {
      const absl::MutexLock lock(&mutex_);
      begun_.push_back(options.first_device);
      peaks_.push_back(plan.known_peak_flops);
      rooms_.push_back(options.available_memory()->bytes);
      const size_t own = begun_.size();
      const auto may_go = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return let_go_ >= own; };
      mutex_.Await(absl::Condition(&may_go));
      return Ok(static_cast<double>(own));
    };
  }
  // Whether so many have begun, soon, and no more.
  testing::AssertionResult Begun(size_t count) {
    const absl::MutexLock lock(&mutex_);
    const auto have = [&]()
                          ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return begun_.size() >= count; };
    mutex_.AwaitWithTimeout(absl::Condition(&have), absl::Seconds(20));
    const auto more = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return begun_.size() > count; };
    mutex_.AwaitWithTimeout(absl::Condition(&more), absl::Milliseconds(50));
    if (begun_.size() == count) return testing::AssertionSuccess();
    return testing::AssertionFailure() << begun_.size() << " began and not " << count;
  }
  void LetGo(size_t count) {
    const absl::MutexLock lock(&mutex_);
    let_go_ = count;
  }
  std::vector<int32_t> begun() {
    const absl::MutexLock lock(&mutex_);
    return begun_;
  }
  std::vector<double> peaks() {
    const absl::MutexLock lock(&mutex_);
    return peaks_;
  }
  std::vector<int64_t> rooms() {
    const absl::MutexLock lock(&mutex_);
    return rooms_;
  }

 private:
  absl::Mutex mutex_;
  std::vector<int32_t> begun_ ABSL_GUARDED_BY(mutex_);  // by first device
  std::vector<double> peaks_ ABSL_GUARDED_BY(mutex_);
  std::vector<int64_t> rooms_ ABSL_GUARDED_BY(mutex_);
  size_t let_go_ ABSL_GUARDED_BY(mutex_) = 0;
};

trial::TrialResult UntilCancelled(const trial::TrialPlan&,
                                  const trial::TrialRunnerOptions& options) {
  while (!options.cancel->load()) absl::SleepFor(absl::Milliseconds(1));
  trial::TrialResult result;
  result.outcome = trial::TrialOutcome::kCancelled;
  return result;
}

TEST_F(TrialThreadsTest, RunsTheTrialsOfOneSlotOnOneThread) {
  std::set<std::thread::id> threads;
  auto trials = Start([&](const trial::TrialPlan&, const trial::TrialRunnerOptions& options) {
    threads.insert(std::this_thread::get_id());
    EXPECT_EQ(options.worker_path, "worker");
    return Ok();
  });
  for (int32_t i = 1; i <= 3; ++i) trials->Start(JobOn(i));
  for (int32_t i = 1; i <= 3; ++i) EXPECT_EQ(Next().key.trial, i);
  EXPECT_EQ(threads.size(), 1u);
}

TEST_F(TrialThreadsTest, CancelsOnlyTheAttemptThatIsNamed) {
  auto trials = Start(UntilCancelled);
  trials->Start(JobOn(1));
  trials->Cancel({"s", 1, 2});
  EXPECT_FALSE(done_.Pop(absl::Milliseconds(50)).has_value());
  trials->Cancel({"s", 1, 1});
  EXPECT_EQ(Next().result.outcome, trial::TrialOutcome::kCancelled);
}

TEST_F(TrialThreadsTest, ACancelledTrialThatWaitsNeverBegins) {
  auto trials = Start(UntilCancelled);
  trials->Start(JobOn(1));
  absl::SleepFor(absl::Milliseconds(20));
  trials->Start(JobOn(2));
  trials->Cancel({"s", 2, 1});
  trials->Cancel({"s", 1, 1});
  EXPECT_EQ(Next().key.trial, 1);
  const Done second = Next();
  EXPECT_EQ(second.key.trial, 2);
  EXPECT_EQ(second.result.message, "cancelled before it began");
}

TEST_F(TrialThreadsTest, EndingKillsWhatRuns) {
  auto trials = Start(UntilCancelled);
  trials->Start(JobOn(1));
  trials.reset();
  EXPECT_EQ(Next().result.outcome, trial::TrialOutcome::kCancelled);
}

TEST_F(TrialThreadsTest, TrialsOnDifferentSlotsRunSideBySideOnTheirCores) {
  Held held;
  auto trials = Start(held.Runner(), /*slots=*/2);
  // What a rank's peak is has been measured.
  trials->Start(JobOn(1));
  held.LetGo(1);
  EXPECT_EQ(Next().key.trial, 1);
  trials->Start(JobOn(2, /*first_slot=*/0));
  ASSERT_TRUE(held.Begun(2));
  trials->Start(JobOn(3, /*first_slot=*/1));
  ASSERT_TRUE(held.Begun(3));
  EXPECT_EQ(held.begun(), (std::vector<int32_t>{0, 0, 2}));
  held.LetGo(3);
  Next();
  Next();
  const absl::MutexLock lock(&mutex_);
  EXPECT_EQ(bound_,
            (std::vector<wire::DeviceShare>{JobOn(1).share, JobOn(2).share, JobOn(3, 1).share}));
}

TEST_F(TrialThreadsTest, ATrialWaitsForItsSlotsAndLetsNoneBehindItPass) {
  Held held;
  auto trials = Start(held.Runner(), /*slots=*/2);
  trials->Start(JobOn(1, /*first_slot=*/0));
  ASSERT_TRUE(held.Begun(1));
  trials->Start(JobOn(2, /*first_slot=*/0, /*slots=*/2));
  trials->Start(JobOn(3, /*first_slot=*/1));
  ASSERT_TRUE(held.Begun(1));
  held.LetGo(1);
  EXPECT_EQ(Next().key.trial, 1);
  ASSERT_TRUE(held.Begun(2));
  held.LetGo(2);
  EXPECT_EQ(Next().key.trial, 2);
  held.LetGo(3);
  EXPECT_EQ(Next().key.trial, 3);
}

// Their MFU would not compare.
TEST_F(TrialThreadsTest, OneOfAKindMeasuresThePeakOfAll) {
  Held held;
  auto trials = Start(held.Runner(), /*slots=*/2);
  trials->Start(JobOn(1, 0));
  trials->Start(JobOn(2, 1));
  ASSERT_TRUE(held.Begun(1));
  // Another kind has a peak of its own.
  TrialJob other = JobOn(3, 1);
  other.plan.layout.dp = 2;
  trials->Start(other);
  ASSERT_TRUE(held.Begun(1)) << "one that waits for the slot came first";
  held.LetGo(1);
  Next();
  ASSERT_TRUE(held.Begun(2));
  held.LetGo(3);
  Next();
  Next();
  EXPECT_EQ(held.peaks(), (std::vector<double>{0.0, 1.0, 0.0}));
}

TEST_F(TrialThreadsTest, OneThatEndedWithoutAMeasurementHoldsUpNobody) {
  std::atomic<int> running{0};
  std::atomic<bool> let_go{false};
  auto trials = Start(
      [&](const trial::TrialPlan&, const trial::TrialRunnerOptions&) {
        ++running;
        while (!let_go.load()) absl::SleepFor(absl::Milliseconds(1));
        return trial::FailedResult("it did not fit", trial::Fault::kLayout);
      },
      /*slots=*/2);
  let_go = true;
  trials->Start(JobOn(1, 0));
  Next();
  let_go = false;
  trials->Start(JobOn(2, 0));
  trials->Start(JobOn(3, 1));
  while (running.load() < 3) absl::SleepFor(absl::Milliseconds(1));
  let_go = true;
  Next();
  Next();
}

TEST_F(TrialThreadsTest, ACancelledTrialThatWaitsForAMeasurementEndsAtOnce) {
  Held held;
  auto trials = Start(held.Runner(), /*slots=*/2);
  trials->Start(JobOn(1, 0));
  ASSERT_TRUE(held.Begun(1));
  trials->Start(JobOn(2, 1));
  trials->Cancel({"s", 2, 1});
  const Done cancelled = Next();
  EXPECT_EQ(cancelled.key.trial, 2);
  EXPECT_EQ(cancelled.result.outcome, trial::TrialOutcome::kCancelled);
  held.LetGo(1);
  EXPECT_EQ(Next().key.trial, 1);
}

// What trials that have just begun are going to take is as good as gone.
TEST_F(TrialThreadsTest, TwoTrialsAreNotPromisedTheSameMemory) {
  Held held;
  auto trials = Start(held.Runner(), /*slots=*/2);
  TrialJob job = JobOn(1, 0);
  job.plan.estimated_bytes = {100};
  const int64_t needs = *trial::BytesOfRanks(job.plan, {0});
  available_bytes_ = 4 * needs;
  trials->Start(job);
  held.LetGo(1);
  Next();
  job.key.trial = 2;
  trials->Start(job);
  ASSERT_TRUE(held.Begun(2));
  // Another process took most of what the agent had.
  available_bytes_ = needs + 7;
  job.key.trial = 3;
  job.share = JobOn(3, 1).share;
  trials->Start(job);
  ASSERT_TRUE(held.Begun(3));
  EXPECT_EQ(held.rooms(), (std::vector<int64_t>{2 * needs, 2 * needs, 7}));
  held.LetGo(3);
  Next();
  Next();
  // It is there again, while others run.
  trials->Start(job);
  ASSERT_TRUE(held.Begun(4));
  available_bytes_ = 10 * needs;
  job.key.trial = 4;
  job.share = JobOn(4, 0).share;
  trials->Start(job);
  ASSERT_TRUE(held.Begun(5));
  EXPECT_EQ(held.rooms().back(), 5 * needs);
  held.LetGo(5);
}

// Whatever the other has taken already: it may take the rest of its part at any time.
TEST_F(TrialThreadsTest, ASlotHasItsPartOfTheHostsMemory) {
  Held held;
  auto trials = Start(held.Runner(), /*slots=*/4);
  trials->Start(JobOn(1, 0, 4));
  held.LetGo(1);
  Next();
  trials->Start(JobOn(2, 0));
  ASSERT_TRUE(held.Begun(2));
  available_bytes_ = 900;
  trials->Start(JobOn(3, 1, 2));
  ASSERT_TRUE(held.Begun(3));
  available_bytes_ = 100;
  trials->Start(JobOn(4, 3));
  ASSERT_TRUE(held.Begun(4));
  EXPECT_EQ(held.rooms(), (std::vector<int64_t>{1000, 250, 500, 100}));
  held.LetGo(4);
}

}  // namespace
}  // namespace meshwright::agent
