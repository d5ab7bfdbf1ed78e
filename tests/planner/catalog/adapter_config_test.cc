#include "planner/catalog/adapter_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/field_error.h"

namespace meshwright::planner {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kLora[] = R"({"base_model_name_or_path": "Qwen/Qwen3-8B", "peft_type": "LORA",
                             "r": 16, "target_modules": ["q_proj", "v_proj"]})";

TEST(AdapterConfig, NamesItsBaseAndItsShape) {
  EXPECT_TRUE(IsAdapter(kLora));
  const auto adapter = ReadAdapterConfig(kLora);
  ASSERT_TRUE(adapter.ok()) << adapter.status();
  EXPECT_EQ(adapter->base, "Qwen/Qwen3-8B");
  EXPECT_EQ(adapter->rank, 16);
  EXPECT_THAT(adapter->targets, ElementsAre("q_proj", "v_proj"));
  EXPECT_THAT(NoteOn(*adapter), HasSubstr("base model Qwen/Qwen3-8B"));
  EXPECT_THAT(NoteOn(*adapter), HasSubstr("(LoRA of rank 16 on q_proj and v_proj) as --train "
                                          "lora:16:q_proj,v_proj; --train overrides this"));
}

std::string TrainOf(const char* keys) {
  const auto adapter =
      ReadAdapterConfig(std::string(R"({"base_model_name_or_path": "b", )") + keys + "}");
  return adapter.ok() ? TrainTextOf(*adapter) : std::string(adapter.status().message());
}

TEST(AdapterConfig, IsTrainedAsItsFileSays) {
  EXPECT_EQ(TrainOf(R"("r": 8, "target_modules": "all-linear")"), "lora:8");
  EXPECT_EQ(TrainOf(R"("r": 8)"), "lora:8");
  EXPECT_EQ(TrainOf(R"("r": 4, "use_dora": true, "target_modules": ["o_proj"])"), "dora:4:o_proj");
  EXPECT_EQ(TrainOf(R"("r": 4, "target_modules": ["gate_up_proj", "qkv_proj"])"),
            "lora:4:q_proj,k_proj,v_proj,gate_proj,up_proj");
}

TEST(AdapterConfig, OthersAreNotPlanned) {
  EXPECT_EQ(TrainOf(R"("r": 8, "target_modules": ["q_proj", "lm_head"])"), "");
  EXPECT_EQ(TrainOf(R"("peft_type": "IA3", "target_modules": ["q_proj"])"), "");
  EXPECT_EQ(TrainOf(R"("target_modules": ["q_proj"])"), "");
}

TEST(AdapterConfig, MayNameAllModulesInOneWord) {
  const auto adapter = ReadAdapterConfig(
      R"({"base_model_name_or_path": "b", "peft_type": "IA3", "target_modules": "all-linear"})");
  ASSERT_TRUE(adapter.ok()) << adapter.status();
  EXPECT_THAT(NoteOn(*adapter), HasSubstr("(IA3 on all-linear)"));
}

TEST(AdapterConfig, ProblemNamesTheKey) {
  const auto problem = [](const char* text) { return FieldOf(ReadAdapterConfig(text).status()); };
  EXPECT_EQ(problem(R"({"base_model_name_or_path": null})"), "base_model_name_or_path");
  EXPECT_EQ(problem(R"({"base_model_name_or_path": 3})"), "base_model_name_or_path");
  EXPECT_EQ(problem(R"({"base_model_name_or_path": "b", "r": "x"})"), "r");
  EXPECT_EQ(problem(R"({"base_model_name_or_path": "b", "target_modules": [1]})"),
            "target_modules");
}

// A config.json may have the key too.
TEST(AdapterConfig, IsNoConfigOfAModel) {
  EXPECT_FALSE(IsAdapter(R"({"base_model_name_or_path": "b", "hidden_size": 8})"));
  EXPECT_FALSE(IsAdapter(R"({"hidden_size": 8})"));
  EXPECT_FALSE(IsAdapter("broken"));
}

TEST(AdapterConfig, NotesHaveNothingThatATerminalObeys) {
  const auto adapter = ReadAdapterConfig("{\"base_model_name_or_path\": \"b\\u001b[2J\"}");
  EXPECT_THAT(NoteOn(*adapter), HasSubstr("b\\x1b[2J"));
}

}  // namespace
}  // namespace meshwright::planner
