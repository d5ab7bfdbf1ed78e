#include "planner/rules/layer_kind_rules.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "planner/rules/rule_list.h"
#include "tests/planner/catalog/small_config.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

std::string SentenceOn(const nlohmann::json& config, const char* layout, int64_t devices) {
  TestContext context = MakeContext("llama-3-8b", "h100", 4096, 64);
  context.model = ReadModel(config);
  const auto violation = CheckLayout(context.get(), devices, MakeLayout(layout));
  return violation ? Describe(*violation) : "";
}

nlohmann::json Zamba2() {
  return With(Small("zamba2", 4), {{"n_mamba_heads", 4},
                                   {"mamba_headdim", 32},
                                   {"mamba_d_state", 32},
                                   {"layers_block_type", {"hybrid", "hybrid", "mamba", "mamba"}}});
}

TEST(LayerKindRules, LayersWithASharedBlockAreOnTheFirstStage) {
  EXPECT_EQ(SentenceOn(Zamba2(), "tp1.pp2.dp1", 2), "");
  EXPECT_EQ(SentenceOn(Zamba2(), "tp1.pp4.dp1", 4),
            "layer 1 is on stage 1, but reads the embedding and runs weights of another layer; "
            "such layers must be on the first stage");
  nlohmann::json late = Zamba2();
  late["layers_block_type"] = {"mamba", "mamba", "mamba", "hybrid"};
  EXPECT_EQ(SentenceOn(late, "tp1.pp2.dp1", 2),
            "layer 3 is on stage 1, but reads the embedding and runs weights of another layer; "
            "such layers must be on the first stage");
}

TEST(LayerKindRules, LayersThatShareKeysAreOnTheStageOfTheirOwner) {
  const nlohmann::json gemma =
      With(Small("gemma4_text", 4),
           {{"num_kv_shared_layers", 2}, {"sliding_window_pattern", 2}, {"sliding_window", 64}});
  EXPECT_EQ(SentenceOn(gemma, "tp1.pp1.dp1", 1), "");
  EXPECT_EQ(SentenceOn(gemma, "tp1.pp2.dp1", 2),
            "layer 2 shares keys of layers from 0 on, which must be on its stage");
}

}  // namespace
}  // namespace meshwright::planner
