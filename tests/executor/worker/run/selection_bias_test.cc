// Selection biases move alike under every layout, and as the reference's do.
#include "planner/block/stage_partition.h"
#include "planner/schedule/placement.h"
#include "tests/executor/layout_choice.h"
#include "tests/executor/worker/reference_model.h"
#include "tests/executor/worker/routed_layouts.h"

namespace meshwright::worker {
namespace {

class SelectionBiasTest : public RoutedLayoutsTest {
 protected:
  // Those of the layers with experts that a rank has, chunk by chunk.
  std::vector<std::vector<double>> BiasesOfRank(const ReferenceModel& reference,
                                                int32_t pipeline_rank) {
    const trial::TrialPlan& plan = run_.plan();
    std::vector<std::vector<double>> biases;
    for (int32_t chunk = 0; chunk < plan.layout.vpp; ++chunk) {
      const planner::StageLayers stage =
          planner::StageOf(plan.model, plan.layout, planner::StagePartition::kEqual,
                           planner::StageOfChunk(plan.layout, pipeline_rank, chunk));
      for (int64_t i = 0; i < stage.layer_count; ++i) {
        const int64_t layer = stage.first_layer + i;
        if (!plan.model.GroupOf(layer).ffn.has_experts()) continue;
        const at::Tensor& bias = reference.selection_bias(layer);
        const double* values = bias.const_data_ptr<double>();
        biases.emplace_back(values, values + bias.numel());
      }
    }
    return biases;
  }

  static bool Moved(const std::vector<std::vector<double>>& biases) {
    for (const std::vector<double>& of_layer : biases) {
      for (const double bias : of_layer) {
        if (bias != 0.0) return true;
      }
    }
    return false;
  }
};

TEST_P(SelectionBiasTest, MovesAsTheReferencesDoes) {
  run_.plan().steps = 3;  // an odd number of moves never ends where it began
  ExpectExactAsRouted(1e-9);
  ReferenceModel reference(run_.plan().model, run_.plan().training, run_.plan().seed);
  reference.Train(run_.plan().steps);
  for (const ThreadRank& rank : run_.ranks()) {
    EXPECT_EQ(rank.selection_biases, BiasesOfRank(reference, rank.pipeline_rank));
    EXPECT_EQ(Moved(rank.selection_biases), !rank.selection_biases.empty());
  }
}

TEST_P(SelectionBiasTest, IsNotThereWhereTokensGoByForce) {
  run_.plan().training.routing = planner::Routing::kBalanced;
  ExpectExact(planner::Precision::kFp64, 1e-9);
  for (const ThreadRank& rank : run_.ranks()) EXPECT_TRUE(rank.selection_biases.empty());
}

INSTANTIATE_TEST_SUITE_P(All, SelectionBiasTest,
                         testing::ValuesIn(trial::Chosen("selection_bias",
                                                         trial::SelectionBiasCases())),
                         [](const auto& test) { return trial::CaseName(test.param); });

}  // namespace
}  // namespace meshwright::worker
