#include "planner/catalog/model_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "nlohmann/json.hpp"
#include "planner/catalog/catalog.h"
#include "planner/data/embedded.h"

namespace meshwright::planner {
namespace {

using testing::Contains;

std::string PresetOf(std::string_view name) {
  const auto named = ModelNamed(name);
  return named ? named->preset : "";
}

std::string PresetOfRow(std::string_view name) {
  const auto named = ModelOfRow(name);
  return named ? named->preset : "";
}

TEST(ModelNames, AreTheSameHoweverTheyAreSpelt) {
  for (const char* name : {"qwen2.5-7b", "Qwen2.5-7B", "qwen2_5_7b", "Qwen 2.5 7B", "qwen-2.5-7b",
                           "Qwen2.5-7B-Instruct"}) {
    EXPECT_EQ(PresetOf(name), "qwen2.5-7b") << name;
  }
  EXPECT_EQ(PresetOf("Llama_2_7b_chat_hf"), "llama-2-7b");
  EXPECT_EQ(PresetOf("gemma-3-1b-it"), "gemma-3-1b");
  EXPECT_EQ(PresetOf("GPT OSS 20B"), "gpt-oss-20b");
}

TEST(ModelNames, KeepNumbersApart) {
  EXPECT_EQ(PresetOf("llama-27b"), "");
  EXPECT_EQ(PresetOf("llama-2-70b"), "llama-2-70b");
  EXPECT_EQ(PresetOf("qwen-257b"), "");
  EXPECT_EQ(PresetOf(""), "");
  EXPECT_EQ(PresetOf("-"), "");
  EXPECT_EQ(PresetOf("instruct"), "");
}

TEST(ModelNames, OfOtherModelsOfOneShapeStandForItsPreset) {
  const auto named = ModelNamed("Llama-3.3-70B-Instruct");
  ASSERT_TRUE(named.has_value());
  EXPECT_EQ(named->name, "llama-3.3-70b");
  EXPECT_EQ(named->preset, "llama-3.1-70b");
  EXPECT_EQ(PresetOf("DeepSeek-R1"), "deepseek-v3");
  EXPECT_THAT(OtherNamesOf("llama-3.1-70b"), Contains("llama-3.3-70b"));
  EXPECT_TRUE(OtherNamesOf("llama-2-13b").empty());
  // Each of them is found like a preset, under its own name.
  EXPECT_EQ(FindModel("llama-3.3-70b")->name, "llama-3.3-70b");
  EXPECT_EQ(FindModel("llama-3.3-70b")->groups, FindModel("llama-3.1-70b")->groups);
}

// Another organisation may give the name to another model.
TEST(ModelNames, OfTheHubAreNoPresets) {
  EXPECT_EQ(PresetOf("Qwen/Qwen3-8B"), "");
  EXPECT_EQ(PresetOf("someone/llama-2-7b"), "");
}

TEST(ModelNames, OfRowsSayTheOrganisationAndLayersToo) {
  EXPECT_EQ(PresetOfRow("Qwen/Qwen3-8B"), "qwen3-8b");
  EXPECT_EQ(PresetOfRow("llama3-70b-12L"), "llama-3-70b");
  EXPECT_EQ(PresetOfRow("llama3.1-405b-proxy-30L"), "llama-3-405b");
  EXPECT_EQ(PresetOfRow("grok1-314b-proxy-8L"), "grok-1");
  EXPECT_EQ(PresetOfRow("deepseekv3-4L"), "deepseek-v3");
  EXPECT_EQ(PresetOfRow("DeepSeekV3"), "deepseek-v3");
  EXPECT_EQ(PresetOfRow("Qwen3_235B_a22B"), "qwen3-235b-a22b");
  EXPECT_EQ(PresetOfRow("llama4-maverick-400b"), "llama-4-maverick");
  EXPECT_EQ(PresetOfRow("GPT-24L-2048h"), "");
  EXPECT_EQ(PresetOfRow("DeepSeek-V3-16B"), "");
  // A flag has no columns that say the number of layers.
  EXPECT_EQ(PresetOf("llama3-70b-12L"), "");
}

// A name that two lists have, or a preset and a list, would be decided by chance.
TEST(ModelNames, OfTheTableStandForOnePresetEach) {
  const auto table = nlohmann::json::parse(EmbeddedModelNames().front().text);
  const std::vector<std::string> presets = ModelNames();
  for (const auto& [preset, names] : table.items()) {
    EXPECT_THAT(presets, Contains(preset));
    EXPECT_THAT(names, testing::Not(testing::IsEmpty())) << preset;
    for (const std::string name : names) {
      const auto named = ModelNamed(name);
      ASSERT_TRUE(named.has_value()) << name;
      EXPECT_EQ(named->preset, preset) << name;
      EXPECT_EQ(named->name, name);
    }
  }
  for (const std::string& preset : presets) EXPECT_EQ(PresetOf(preset), preset);
}

}  // namespace
}  // namespace meshwright::planner
