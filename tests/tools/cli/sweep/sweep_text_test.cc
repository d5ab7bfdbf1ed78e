#include "tools/cli/sweep/sweep_text.h"

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "executor/wire/wire.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "planner/catalog/catalog.h"
#include "tools/cli/sweep/sweep_json.h"

namespace meshwright::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

v1::Trial SomeTrial(int32_t number) {
  planner::RankedLayout predicted;
  predicted.layout = *planner::ParseLayout("tp2.cp1.pp1.dp2.mb1.vpp1.zero1.sp0.rc=none.sched=1f1b");
  predicted.estimate.mfu = 0.5;
  trial::TrialResult measured;
  measured.outcome = trial::TrialOutcome::kOk;
  measured.step_s = 0.25;
  measured.mfu = 0.4;
  v1::Trial trial;
  trial.set_name("sweeps/s/trials/" + std::to_string(number));
  trial.set_layout(planner::FormatLayout(predicted.layout));
  trial.set_state(v1::TRIAL_STATE_OK);
  *trial.mutable_predicted() = wire::ToWire(predicted);
  *trial.mutable_measured() = wire::ToWire(measured);
  return trial;
}

ShownSweep Shown(const std::vector<v1::Trial>& trials) {
  v1::Sweep sweep;
  sweep.set_cluster_json(std::string(*planner::ClusterText("local-cpu")));
  sweep.set_dtype(v1::DTYPE_FP32);
  sweep.set_gpus(4);
  std::vector<TrialView> views;
  views.reserve(trials.size());
  for (const v1::Trial& trial : trials) views.push_back(ViewOf(trial));
  absl::StatusOr<ShownSweep> shown = ViewOf(sweep, std::move(views));
  EXPECT_TRUE(shown.ok()) << shown.status();
  return *std::move(shown);
}

TEST(SweepTextTest, ShowsWhatCanBeReadAndMarksTheRest) {
  v1::Trial damaged = SomeTrial(2);
  damaged.clear_measured();
  damaged.set_unreadable("the result: step_s = null: expected a number");
  damaged.mutable_predicted()->set_layout("nonsense");
  std::ostringstream out;
  PrintSweep(Shown({SomeTrial(1), damaged}), {}, out);
  EXPECT_THAT(out.str(), HasSubstr("250.0 ms"));
  EXPECT_THAT(out.str(), HasSubstr("2: the server's records can't be read: the result: step_s = "
                                   "null: expected a number; the prediction: layout = nonsense"));
  EXPECT_THAT(out.str(), Not(HasSubstr("1: the server's records")));
}

TEST(SweepTextTest, EndsAFailureWithWhatTheWorkerSaidLast) {
  trial::TrialResult failed;
  failed.outcome = trial::TrialOutcome::kFailed;
  failed.message =
      "rank 0 ended with exit code 3\nits standard error ends with:\nlibfoo is missing\n";
  v1::Trial trial = SomeTrial(1);
  trial.set_state(v1::TRIAL_STATE_FAILED);
  trial.set_reason("rank 0 ended with exit code 3");
  *trial.mutable_measured() = wire::ToWire(failed);
  std::ostringstream out;
  PrintSweep(Shown({trial}), {}, out);
  EXPECT_THAT(out.str(), HasSubstr("1: rank 0 ended with exit code 3\n   libfoo is missing\n"));
}

TEST(SweepTextTest, JsonHasNullForWhatCantBeRead) {
  nlohmann::ordered_json json = ShownSweepToJson(Shown({SomeTrial(1)}))["trials"][0];
  EXPECT_TRUE(json["unreadable"].is_null());
  EXPECT_EQ(json["measured"]["step_s"], 0.25);
  v1::Trial damaged = SomeTrial(2);
  damaged.clear_predicted();
  damaged.mutable_measured()->set_outcome(static_cast<v1::Outcome>(77));
  damaged.set_unreadable("the prediction: it is not JSON");
  json = ShownSweepToJson(Shown({damaged}))["trials"][0];
  EXPECT_TRUE(json["predicted"].is_null());
  EXPECT_TRUE(json["measured"].is_null());
  EXPECT_THAT(json["unreadable"].get<std::string>(),
              HasSubstr("the prediction: it is not JSON; the result: outcome = 77"));
}

}  // namespace
}  // namespace meshwright::cli
