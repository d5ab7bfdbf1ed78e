#include "tools/cli/sweep/sweep_comparison.h"

#include <string>
#include <utility>
#include <vector>

#include "executor/wire/wire.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "planner/catalog/catalog.h"

namespace meshwright::cli {
namespace {

using nlohmann::ordered_json;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kOne = "tp1.cp1.pp1.dp4.mb1.vpp1.zero1.sp0.rc=none.sched=1f1b";
constexpr const char* kTwo = "tp2.cp1.pp1.dp2.mb1.vpp1.zero1.sp0.rc=none.sched=1f1b";

v1::Trial Ended(const std::string& name, const std::string& layout, v1::TrialState state) {
  v1::Trial trial;
  trial.set_name("sweeps/" + name);
  trial.set_layout(layout);
  trial.set_state(state);
  return trial;
}

// Known to `spread_s` either way; not at all where that is below 0.
v1::Trial Measured(const std::string& name, const std::string& layout, double step_s,
                   double spread_s) {
  v1::Trial trial = Ended(name, layout, v1::TRIAL_STATE_OK);
  trial::TrialResult result;
  result.outcome = trial::TrialOutcome::kOk;
  result.step_s = step_s;
  result.worker_version = "1.0";
  result.host = "node";
  if (spread_s >= 0.0) {
    result.step_interval = trial::MedianInterval{step_s - spread_s, step_s + spread_s};
  }
  *trial.mutable_measured() = wire::ToWire(result);
  return trial;
}

ReadSide SideOf(const std::string& name, const std::vector<v1::Trial>& trials) {
  v1::Sweep sweep;
  sweep.set_name("sweeps/" + name);
  sweep.set_state(v1::SWEEP_STATE_FINISHED);
  sweep.set_model("m");
  sweep.set_cluster("c");
  sweep.set_cluster_json(std::string(*planner::ClusterText("local-cpu")));
  sweep.set_dtype(v1::DTYPE_FP32);
  sweep.set_gpus(4);
  sweep.set_seq_len(64);
  sweep.set_global_batch(8);
  std::vector<TrialView> views;
  views.reserve(trials.size());
  for (const v1::Trial& trial : trials) views.push_back(ViewOf(trial));
  absl::StatusOr<ShownSweep> shown = ViewOf(sweep, std::move(views));
  EXPECT_TRUE(shown.ok()) << shown.status();
  return {*std::move(shown), {{"model", {{"name", "m"}, {"hidden", 64}}}, {"training", {}}}};
}

const v1::Sweep& SweepOf(const ReadSide& side) { return side.shown.sweep; }
v1::Sweep& SweepOf(ReadSide& side) { return side.shown.sweep; }

TEST(SweepComparison, AStepOutsideTheNoiseHasARangeOfChange) {
  const SweepComparison found =
      CompareSweeps(SideOf("a", {Measured("a/trials/1", kOne, 0.5, 0.01)}),
                    SideOf("b", {Measured("b/trials/1", kOne, 0.4, 0.01)}));
  ASSERT_EQ(found.both.size(), 1u);
  const TimeChange& step = *found.both[0].step;
  EXPECT_NEAR(step.change, -0.2, 1e-12);
  EXPECT_NEAR(*step.low, 0.39 / 0.51 - 1, 1e-12);
  EXPECT_NEAR(*step.high, 0.41 / 0.49 - 1, 1e-12);
  EXPECT_EQ(step.noise, Noise::kOutside);
  EXPECT_EQ(found.counts.faster, 1);
  EXPECT_NEAR(*found.counts.mean_change, -0.2, 1e-12);
  EXPECT_EQ(found.verdict,
            "b's best is 20.0 % faster than a's best (400.0 ms per step, against 500.0 ms per "
            "step): by 16.3 % to 23.5 % where the medians lie anywhere in their 95 % intervals");
  EXPECT_THAT(found.differences, IsEmpty());
  EXPECT_THAT(found.notes, IsEmpty());
}

TEST(SweepComparison, OverlappingIntervalsAreNoiseAndFewStepsSayNothing) {
  SweepComparison found = CompareSweeps(SideOf("a", {Measured("a/trials/1", kOne, 0.5, 0.02)}),
                                        SideOf("b", {Measured("b/trials/1", kOne, 0.48, 0.02)}));
  EXPECT_EQ(found.both[0].step->noise, Noise::kWithin);
  EXPECT_THAT(found.verdict, HasSubstr("b's best is not told apart from a's best: 4.0 % faster"));
  found = CompareSweeps(SideOf("a", {Measured("a/trials/1", kOne, 0.5, -1)}),
                        SideOf("b", {Measured("b/trials/1", kOne, 0.7, 0.02)}));
  EXPECT_EQ(found.both[0].step->noise, Noise::kUnknown);
  EXPECT_FALSE(found.both[0].step->low.has_value());
  EXPECT_EQ(found.counts.unknown, 1);
  EXPECT_THAT(found.verdict,
              AllOf(HasSubstr("b's best is 40.0 % slower"), HasSubstr("too few steps were timed")));
}

TEST(SweepComparison, AReusedResultIsTheSameRunAndNoEvidence) {
  v1::Trial reused = Measured("b/trials/3", kOne, 0.5, 0.02);
  reused.set_reused_from("sweeps/a/trials/1");
  SweepComparison found =
      CompareSweeps(SideOf("a", {Measured("a/trials/1", kOne, 0.5, 0.02)}), SideOf("b", {reused}));
  EXPECT_EQ(found.both[0].step->noise, Noise::kSameRun);
  EXPECT_EQ(found.both[0].b.reused_from, "a/trials/1");
  EXPECT_EQ(found.counts.same_run, 1);
  EXPECT_FALSE(found.counts.mean_change.has_value());
  EXPECT_THAT(found.verdict, HasSubstr("both bests are one and the same run"));
  // Both from a third sweep.
  v1::Trial other = Measured("a/trials/1", kOne, 0.5, 0.02);
  other.set_reused_from("sweeps/z/trials/9");
  reused.set_reused_from("sweeps/z/trials/9");
  found = CompareSweeps(SideOf("a", {other}), SideOf("b", {reused}));
  EXPECT_EQ(found.counts.same_run, 1);
  // From others: two runs.
  reused.set_reused_from("sweeps/y/trials/9");
  found = CompareSweeps(SideOf("a", {other}), SideOf("b", {reused}));
  EXPECT_EQ(found.counts.same_run, 0);
}

TEST(SweepComparison, OutcomesThatChangedAndLayoutsOfOneSideAreCounted) {
  const SweepComparison found =
      CompareSweeps(SideOf("a", {Measured("a/trials/1", kOne, 0.5, 0.01),
                                 Ended("a/trials/2", kTwo, v1::TRIAL_STATE_CANCELLED)}),
                    SideOf("b", {Ended("b/trials/1", kOne, v1::TRIAL_STATE_OOM),
                                 Measured("b/trials/2", kTwo, 0.6, 0.01)}));
  ASSERT_EQ(found.both.size(), 1u);
  EXPECT_EQ(found.both[0].b.outcome, "oom");
  EXPECT_FALSE(found.both[0].step.has_value());
  EXPECT_EQ(found.counts.outcome_changed, 1);
  EXPECT_EQ(found.only_a.layouts, 0);  // what was cancelled did not run
  EXPECT_EQ(found.only_b.layouts, 1);
  EXPECT_EQ(found.only_b.by_outcome, (std::map<std::string, int64_t>{{"ok", 1}}));
  EXPECT_EQ(found.only_b.best->layout, kTwo);
  EXPECT_THAT(found.verdict, HasSubstr("b's best is 20.0 % slower than a's best"));
}

TEST(SweepComparison, LayoutsCompareByAllTheirAxes) {
  const SweepComparison found = CompareSweeps(
      SideOf("a", {Measured("a/trials/1", "dp4.tp1.pp1.mb1.zero1", 0.5, 0.01)}),
      SideOf("b", {Measured("b/trials/1", kOne, 0.5, 0.01),
                   Measured("b/trials/2", std::string(kOne) + ".norm=fused", 0.4, 0.01)}));
  ASSERT_EQ(found.both.size(), 1u);
  EXPECT_EQ(found.both[0].layout, kOne);
  EXPECT_EQ(found.only_b.layouts, 1);
}

TEST(SweepComparison, AnotherBatchIsMeasuredByItsTokens) {
  ReadSide b = SideOf("b", {Measured("b/trials/1", kOne, 0.8, 0.01)});
  SweepOf(b).set_global_batch(16);
  const SweepComparison found =
      CompareSweeps(SideOf("a", {Measured("a/trials/1", kOne, 0.5, 0.01)}), b);
  EXPECT_NEAR(found.both[0].step->change, -0.2, 1e-12);
  EXPECT_THAT(found.verdict, HasSubstr("20.0 % faster per token than"));
  EXPECT_THAT(found.notes, ElementsAre(HasSubstr("a step has 512 tokens in a and 1,024 in b")));
  EXPECT_THAT(found.differences,
              ElementsAre(Field(&FieldDifference::field, "training.global_batch")));
}

TEST(SweepComparison, TheRequestsDifferFieldByField) {
  const ReadSide a = SideOf("a", {Measured("a/trials/1", kOne, 0.5, 0.01)});
  ReadSide b = SideOf("b", {});
  SweepOf(b).set_memory_limit_bytes(1024);
  SweepOf(b).set_profile("other");
  SweepOf(b).set_request_json(R"({"create_sweep": {"fresh": true, "sweep_id": "b"}})");
  b.plan["model"]["hidden"] = 128;
  b.plan["model"]["name"] = "n";
  ordered_json cluster = ordered_json::parse(SweepOf(a).cluster_json());
  cluster["name"] = "elsewhere";
  cluster["extra"] = {{"deep", 1}};
  SweepOf(b).set_cluster_json(cluster.dump());
  const SweepComparison found = CompareSweeps(a, b);
  std::vector<std::string> fields;
  fields.reserve(found.differences.size());
  for (const FieldDifference& one : found.differences) fields.push_back(one.field);
  EXPECT_THAT(fields,
              ElementsAre("request.profile", "request.memory_limit_bytes", "request.fresh",
                          "worker.versions", "worker.hosts", "model.hidden", "cluster.extra"));
  EXPECT_EQ(found.differences[1].a, nullptr);
  EXPECT_EQ(found.differences[1].b, 1024);
  EXPECT_THAT(found.notes, Contains(HasSubstr("the models differ")));
  EXPECT_EQ(found.verdict, "no layout was measured in b, so that the bests can't be compared");
}

TEST(SweepComparison, SweepsThatGoOnAreNoted) {
  ReadSide b = SideOf("b", {});
  SweepOf(b).set_state(v1::SWEEP_STATE_RUNNING);
  const SweepComparison found = CompareSweeps(SideOf("a", {}), b);
  EXPECT_THAT(found.notes, ElementsAre("sweep b is running: its trials are not complete"));
  EXPECT_EQ(found.verdict, "no layout was measured in either sweep");
}

}  // namespace
}  // namespace meshwright::cli
