// Sweeps that begin with what related ones measured: from the store to the engine's choice.
#include "server/sweeps/related_sweeps.h"

#include "gmock/gmock.h"
#include "planner/catalog/plan_query.h"
#include "tests/server/sweeps/sweep_engine_fixture.h"

namespace meshwright::server {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class RelatedSweepsTest : public SweepEngineTest {
 protected:
  // A sweep of a model with so many times the layers of a small one.
  NewSweep Built(const std::string& name, int64_t layers_factor, absl::Time now) {
    planner::PlanQuery query;
    query.model.name = "tinystories-15m";
    query.cluster.name = "local-cpu";
    query.framework.name = "meshwright";
    query.devices = 4;
    query.training = {.seq_len = 64, .global_batch = 8, .precision = planner::Precision::kFp32};
    planner::SearchRequest request = *planner::Resolve(query, 4);
    request.model.groups.front().count *= layers_factor;
    SweepOptions options;
    options.sweep_id = name;
    options.request_json = R"({"create_sweep":{"trials":4}})";
    options.trials = 4;
    options.candidates = 32;
    return *BuildSweep(request, options, "1", now);
  }
  // Runs the sweep to its end: every layout takes so many times its prediction, with pipelines
  // another half of that longer.
  void Measure(const std::string& name, double factor) {
    const auto agent = Connect("a");
    while (store_->GetSweep(name)->state != db::SweepState::kFinished) {
      now_ += absl::Seconds(1);
      const wire::AttemptKey key = agent->assigned.back();
      const int64_t id = store_->GetSweep(name)->id;
      const db::TrialRecord trial = *store_->GetTrial(id, key.trial);
      trial::TrialResult result = OkResult(0.4);
      result.worker_version = worker_version_;
      const double longer = planner::ParseLayout(trial.layout)->pp > 1 ? 1.5 : 1.0;
      result.step_s = factor * longer * *trial.predicted_step_s;
      result.step_interval =
          trial::MedianInterval{.low_s = result.step_s / 1.2, .high_s = result.step_s * 1.2};
      ASSERT_EQ(engine_->Finish("a", key, result).kind, FinishVerdict::Outcome::kStored);
    }
    engine_->Leave("a", agent.get(), "done");
  }
  planner::RelatedSweeps RelatedSweepsOf(const std::string& name) {
    return *FindRelatedSweeps(*store_->GetSweep(name), *store_);
  }

  std::string worker_version_ = "1";
};

TEST_F(RelatedSweepsTest, ASweepOfAnotherModelBeginsWithWhatOneBeforeItMeasured) {
  ASSERT_TRUE(engine_->Create(Built("first", 1, db::At(0))).ok());
  EXPECT_THAT(RelatedSweepsOf("first").sweeps, IsEmpty());
  Measure("first", 3.0);
  now_ += absl::Seconds(10);
  ASSERT_TRUE(engine_->Create(Built("second", 2, db::At(0) + now_)).ok());
  const planner::RelatedSweeps related_sweeps = RelatedSweepsOf("second");
  ASSERT_THAT(related_sweeps.sweeps, SizeIs(1));
  EXPECT_EQ(related_sweeps.sweeps[0].name, "first");
  EXPECT_EQ(related_sweeps.own.layers, 2 * related_sweeps.sweeps[0].traits.layers);
  EXPECT_GE(related_sweeps.results(), 2);
  for (const planner::RelatedResult& result : related_sweeps.sweeps[0].results) {
    EXPECT_GE(result.residual, std::log(3.0) - 1e-9);
    EXPECT_NEAR(result.noise, std::log(1.2) / 1.96, 1e-4);
  }
  const auto agent = Connect("b");
  ASSERT_THAT(agent->assigned, SizeIs(1));
  const auto attempts =
      store_->ListAttempts(store_->GetSweep("second")->id, agent->assigned[0].trial);
  EXPECT_THAT(attempts->front().decision,
              HasSubstr("estimates are corrected by " + planner::Describe(related_sweeps)));
  EXPECT_THAT(attempts->front().decision, HasSubstr("related sweep, first"));
}

TEST_F(RelatedSweepsTest, ARestartedServerChoosesAsTheOneBeforeIt) {
  ASSERT_TRUE(engine_->Create(Built("first", 1, db::At(0))).ok());
  Measure("first", 3.0);
  now_ += absl::Seconds(10);
  ASSERT_TRUE(engine_->Create(Built("second", 2, db::At(0) + now_)).ok());
  const planner::RelatedSweeps before = RelatedSweepsOf("second");
  // What ends later says nothing of it.
  ASSERT_TRUE(engine_->Create(Built("third", 3, db::At(0) + now_)).ok());
  ASSERT_TRUE(engine_->Cancel("second").ok());
  Measure("third", 1.0);
  StartEngine();
  const planner::RelatedSweeps after = RelatedSweepsOf("second");
  ASSERT_EQ(after.results(), before.results());
  for (size_t i = 0; i < after.sweeps[0].results.size(); ++i) {
    EXPECT_EQ(after.sweeps[0].results[i].residual, before.sweeps[0].results[i].residual);
    EXPECT_EQ(after.sweeps[0].results[i].point, before.sweeps[0].results[i].point);
  }
}

TEST_F(RelatedSweepsTest, ResultsOfOtherWorkersAreNotRelated) {
  worker_version_ = "0";
  ASSERT_TRUE(engine_->Create(Built("first", 1, db::At(0))).ok());
  Measure("first", 3.0);
  now_ += absl::Seconds(10);
  ASSERT_TRUE(engine_->Create(Built("second", 2, db::At(0) + now_)).ok());
  EXPECT_THAT(RelatedSweepsOf("second").sweeps, IsEmpty());
}

TEST_F(RelatedSweepsTest, ASweepThatWasAskedForFreshHasNone) {
  ASSERT_TRUE(engine_->Create(Built("first", 1, db::At(0))).ok());
  Measure("first", 3.0);
  now_ += absl::Seconds(10);
  NewSweep fresh = Built("second", 2, db::At(0) + now_);
  fresh.sweep.request_json = R"({"create_sweep":{"trials":4,"fresh":true}})";
  ASSERT_TRUE(engine_->Create(fresh).ok());
  EXPECT_THAT(RelatedSweepsOf("second").sweeps, IsEmpty());
  const auto agent = Connect("b");
  const auto attempts =
      store_->ListAttempts(store_->GetSweep("second")->id, agent->assigned[0].trial);
  EXPECT_THAT(attempts->front().decision, Not(HasSubstr("related sweep")));
}

TEST_F(RelatedSweepsTest, PlansThatCantBeReadLeaveASweepWithoutRelatedSweeps) {
  NewSweep odd{db::SomeSweep("odd"), db::SomeTrials(2)};
  odd.sweep.max_trials = 2;
  ASSERT_TRUE(engine_->Create(odd).ok());
  ASSERT_TRUE(engine_->Cancel("odd").ok());
  now_ += absl::Seconds(10);
  ASSERT_TRUE(engine_->Create(Built("second", 2, db::At(0) + now_)).ok());
  EXPECT_THAT(RelatedSweepsOf("second").sweeps, IsEmpty());
}

}  // namespace
}  // namespace meshwright::server
