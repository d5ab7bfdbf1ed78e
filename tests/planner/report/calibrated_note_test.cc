#include "planner/report/calibrated_note.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/catalog/plan_query.h"
#include "planner/report/answers.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

PlanQuery QueryOn(const ClusterSpec& cluster) {
  PlanQuery query{.model = {"llama-3.2-1b", ""},
                  .cluster = {cluster.name, ClusterToJson(cluster)},
                  .devices = 8,
                  .training = {.seq_len = 4096, .global_batch = 64}};
  return query;
}

TEST(CalibratedNote, ShowsWhatThePresetSaysBesideTheCalibratedCluster) {
  ClusterSpec ours = FindCluster("h100", 2).value();
  ours.name = "ours";
  const std::string layout = "tp1.pp1.dp8.mb1.zero1";
  EXPECT_THAT(AnswerEstimate(QueryOn(ours), layout, 2)->notes,
              Not(Contains(HasSubstr("without calibration"))));
  ours.calibrated_from = "h100";
  ours.device.matmul_efficiency *= 0.5;
  const auto note = HasSubstr("without calibration, h100 predicts a step of ");
  EXPECT_THAT(AnswerEstimate(QueryOn(ours), layout, 2)->notes, Contains(note));
  EXPECT_THAT(AnswerRecommend(QueryOn(ours), 2)->notes, Contains(note));
}

TEST(CalibratedNote, IsLeftOutWhereThePresetIsNotKnown) {
  ClusterSpec ours = FindCluster("h100", 2).value();
  ours.calibrated_from = "a machine of ours";
  const SearchRequest request = Resolve(QueryOn(ours), 2).value();
  const Layout layout = ParseLayout("tp1.pp1.dp8.mb1.zero1").value();
  const Estimate estimate = CheckAndEstimate(request, layout).value();
  EXPECT_EQ(CalibratedNote(request, layout, estimate), std::nullopt);
}

}  // namespace
}  // namespace meshwright::planner
