#include "tools/cli/sweep_text.h"

#include <sstream>

#include "executor/agent/wire.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace meshwright {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

v1::Trial SomeTrial(int32_t number) {
  RankedLayout predicted;
  predicted.layout = *ParseLayout("tp2.cp1.pp1.dp2.mb1.vpp1.zero1.sp0.rc=none.sched=1f1b");
  predicted.estimate.mfu = 0.5;
  TrialResult measured;
  measured.outcome = Outcome::kOk;
  measured.step_s = 0.25;
  measured.mfu = 0.4;
  v1::Trial trial;
  trial.set_name("sweeps/s/trials/" + std::to_string(number));
  trial.set_layout(FormatLayout(predicted.layout));
  trial.set_state(v1::TRIAL_STATE_OK);
  *trial.mutable_predicted() = ToWire(predicted);
  *trial.mutable_measured() = ToWire(measured);
  return trial;
}

TEST(SweepTextTest, ShowsWhatCanBeReadAndMarksTheRest) {
  v1::Trial damaged = SomeTrial(2);
  damaged.clear_measured();
  damaged.set_unreadable("the result: step_s = null: expected a number");
  damaged.mutable_predicted()->set_layout("nonsense");
  std::ostringstream out;
  PrintSweep(v1::Sweep(), {ViewOf(SomeTrial(1)), ViewOf(damaged)}, out);
  EXPECT_THAT(out.str(), HasSubstr("250.0 ms"));
  EXPECT_THAT(out.str(), HasSubstr("2: the server's records can't be read: the result: step_s = "
                                   "null: expected a number; the prediction: layout = nonsense"));
  EXPECT_THAT(out.str(), Not(HasSubstr("1: the server's records")));
}

TEST(SweepTextTest, JsonHasNullForWhatCantBeRead) {
  nlohmann::ordered_json json = TrialToJson(ViewOf(SomeTrial(1)));
  EXPECT_TRUE(json["unreadable"].is_null());
  EXPECT_EQ(json["measured"]["step_s"], 0.25);
  v1::Trial damaged = SomeTrial(2);
  damaged.clear_predicted();
  damaged.mutable_measured()->set_outcome("splendid");
  damaged.set_unreadable("the prediction: it is not JSON");
  json = TrialToJson(ViewOf(damaged));
  EXPECT_TRUE(json["predicted"].is_null());
  EXPECT_TRUE(json["measured"].is_null());
  EXPECT_THAT(json["unreadable"].get<std::string>(),
              HasSubstr("the prediction: it is not JSON; the result: outcome = splendid"));
}

}  // namespace
}  // namespace meshwright
