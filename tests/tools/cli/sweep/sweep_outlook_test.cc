// What a watcher is told to expect of a sweep, from events whose times are invented.
#include "tools/cli/sweep/sweep_outlook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/wire/wire.h"

namespace meshwright::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class SweepOutlookTest : public testing::Test {
 protected:
  SweepOutlookTest() { outlook_.SetMost(4); }

  void Take(v1::SweepEventKind kind, double after_s, const std::string& trial = "1") {
    v1::SweepEvent event;
    event.set_kind(kind);
    event.set_trial(trial);
    *event.mutable_time() =
        wire::ToWire(absl::FromUnixSeconds(1'800'000'000) + absl::Seconds(after_s));
    if (kind == v1::SWEEP_EVENT_KIND_TRIAL_ENDED) event.mutable_left()->set_step_s(0.5);
    if (kind == v1::SWEEP_EVENT_KIND_TRIAL_ASSIGNED) event.mutable_placed()->set_expected_gain(0.1);
    outlook_.Take(event);
  }
  std::string After(double after_s) {
    Take(v1::SWEEP_EVENT_KIND_TRIAL_PROGRESS, after_s, "2");
    return outlook_.ToText();
  }

  SweepOutlook outlook_;
};

TEST_F(SweepOutlookTest, NobodyKnowsHowLongBeforeATrialHasEnded) {
  EXPECT_EQ(outlook_.ToText(), "");
  Take(v1::SWEEP_EVENT_KIND_TRIAL_ASSIGNED, 0);
  EXPECT_EQ(After(7), "may gain 10.0 %");
}

TEST_F(SweepOutlookTest, TheTimeLeftFallsWhileATrialRuns) {
  Take(v1::SWEEP_EVENT_KIND_TRIAL_ASSIGNED, 0);
  Take(v1::SWEEP_EVENT_KIND_TRIAL_ENDED, 10);
  EXPECT_THAT(After(11), HasSubstr("at most 29 s more"));
  EXPECT_THAT(After(18), HasSubstr("at most 22 s more"));
}

TEST_F(SweepOutlookTest, ATrialThatTakesLongerIsWhatTheOthersAreExpectedToTake) {
  Take(v1::SWEEP_EVENT_KIND_TRIAL_ASSIGNED, 0);
  Take(v1::SWEEP_EVENT_KIND_TRIAL_ENDED, 10);
  EXPECT_THAT(After(30), HasSubstr("at most 40 s more"));
}

TEST_F(SweepOutlookTest, AnOverdueLastTrialHasNoTimeLeftToSay) {
  Take(v1::SWEEP_EVENT_KIND_TRIAL_ASSIGNED, 0);
  for (int i = 1; i <= 3; ++i) Take(v1::SWEEP_EVENT_KIND_TRIAL_ENDED, 10 * i, std::to_string(i));
  EXPECT_THAT(After(34), HasSubstr("at most 6 s more"));
  EXPECT_THAT(After(45), Not(HasSubstr("more")));
}

TEST_F(SweepOutlookTest, TrialsThatEndSideBySideShareTheirTime) {
  Take(v1::SWEEP_EVENT_KIND_TRIAL_ASSIGNED, 0, "1");
  Take(v1::SWEEP_EVENT_KIND_TRIAL_ASSIGNED, 0, "2");
  Take(v1::SWEEP_EVENT_KIND_TRIAL_ENDED, 10, "1");
  Take(v1::SWEEP_EVENT_KIND_TRIAL_ENDED, 10, "2");
  EXPECT_EQ(After(12), "best 500.0 ms, at most 8 s more");
}

TEST_F(SweepOutlookTest, ResultsOfOtherSweepsTakeNoTime) {
  outlook_.TakeReused(0.4);
  Take(v1::SWEEP_EVENT_KIND_TRIAL_ASSIGNED, 0);
  Take(v1::SWEEP_EVENT_KIND_TRIAL_ENDED, 10);
  EXPECT_EQ(After(10), "best 400.0 ms, at most 20 s more");
}

TEST_F(SweepOutlookTest, AFinishedSweepTakesNoMore) {
  Take(v1::SWEEP_EVENT_KIND_TRIAL_ASSIGNED, 0);
  Take(v1::SWEEP_EVENT_KIND_TRIAL_ENDED, 10);
  Take(v1::SWEEP_EVENT_KIND_SWEEP_FINISHED, 11);
  EXPECT_EQ(outlook_.ToText(), "best 500.0 ms");
}

}  // namespace
}  // namespace meshwright::cli
