#include "planner/report/model_preset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "planner/catalog/catalog.h"

namespace meshwright::planner {
namespace {

ModelPreset PresetNamed(const std::string& name) {
  const std::vector<ModelPreset> presets = ModelPresets();
  const auto found = std::find_if(presets.begin(), presets.end(),
                                  [&](const ModelPreset& preset) { return preset.name == name; });
  return found == presets.end() ? ModelPreset() : *found;
}

TEST(ModelPresets, AreAllThere) {
  const std::vector<ModelPreset> presets = ModelPresets();
  const std::vector<std::string> names = ModelNames();
  ASSERT_EQ(presets.size(), names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(presets[i].name, names[i]);
    EXPECT_GT(presets[i].counts.parameters, 0) << names[i];
    EXPECT_LE(presets[i].counts.active_parameters, presets[i].counts.parameters) << names[i];
  }
}

TEST(ModelPresets, SayWhatTheModelIs) {
  const ModelPreset dense = PresetNamed("qwen3-8b");
  EXPECT_EQ(dense.kind, "dense");
  EXPECT_EQ(dense.counts.parameters, 8190735360);
  EXPECT_EQ(dense.counts.active_parameters, dense.counts.parameters);
  EXPECT_EQ(dense.context_tokens, 40960);
  const ModelPreset experts = PresetNamed("qwen3-30b-a3b");
  EXPECT_EQ(experts.kind, "experts");
  EXPECT_NEAR(static_cast<double>(experts.counts.active_parameters), 3.3e9, 0.1e9);
  EXPECT_EQ(experts.counts.tower_parameters, 0);
  EXPECT_EQ(experts.counts.mtp_parameters, 0);
  // A file need not name it.
  EXPECT_EQ(PresetNamed("hagemann-13b").context_tokens, std::nullopt);
  EXPECT_THAT(PresetNamed("llama-3.1-70b").other_names, testing::Contains("llama-3.3-70b"));
}

// DeepSeek-V3 has 671.0e9 parameters and 14e9 more with its head for a second token (arXiv
// 2412.19437, section 2.2), of which embedding and head, 1.85e9, are the model's own.
TEST(ModelPresets, CountTowersWithTheModelAndFurtherTokensBesideIt) {
  const ParameterCounts deepseek = PresetNamed("deepseek-v3").counts;
  EXPECT_NEAR(static_cast<double>(deepseek.parameters), 671.0e9, 0.1e9);
  EXPECT_EQ(deepseek.mtp_parameters, 11610067968);
  EXPECT_EQ(deepseek.tower_parameters, 0);
  const ParameterCounts gemma = PresetNamed("gemma-3-4b").counts;
  EXPECT_EQ(gemma.tower_parameters, 419816304);
  EXPECT_GT(gemma.parameters, gemma.tower_parameters);
  EXPECT_EQ(gemma.active_parameters, gemma.parameters);
}

// Parameters in Qwen3's report (arXiv 2505.09388) and in the models' cards.
TEST(ModelPresets, HaveThePublishedSizes) {
  const auto billions = [](const char* name) {
    return static_cast<double>(PresetNamed(name).counts.parameters) / 1e9;
  };
  EXPECT_NEAR(billions("qwen3-0.6b"), 0.6, 0.01);
  EXPECT_NEAR(billions("qwen3-1.7b"), 1.7, 0.03);
  EXPECT_NEAR(billions("qwen3-4b"), 4.0, 0.03);
  EXPECT_NEAR(billions("qwen3-14b"), 14.8, 0.05);
  EXPECT_NEAR(billions("qwen3-32b"), 32.8, 0.05);
  EXPECT_NEAR(billions("llama-3.1-8b"), 8.03, 0.01);
  EXPECT_NEAR(billions("gemma-2-2b"), 2.61, 0.01);
  EXPECT_NEAR(billions("phi-4-mini"), 3.84, 0.01);
  EXPECT_NEAR(billions("smollm3-3b"), 3.08, 0.01);
  EXPECT_NEAR(billions("minimax-m2.7"), 229.0, 1.0);
}

}  // namespace
}  // namespace meshwright::planner
