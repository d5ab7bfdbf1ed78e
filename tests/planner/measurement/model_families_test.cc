#include "planner/measurement/model_families.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::planner {
namespace {

using testing::HasSubstr;

const ModelFamilies& Families() {
  static const auto* const kFamilies = new ModelFamilies(LoadModelFamilies().value());
  return *kFamilies;
}

Measurement Model(const char* name, const char* notes = "") {
  Measurement row;
  row.model = name;
  row.notes = notes;
  return row;
}

TEST(ModelFamilies, KnowGatedAndPlainFfn) {
  for (const char* name : {"llama-13B", "Llama3-70b", "Mistral-7B", "Qwen2.5-7B"}) {
    EXPECT_EQ(HasGatedFfn(Families(), Model(name)), true) << name;
  }
  for (const char* name : {"GPT-24L-1024h", "gpt3-175B", "MPT-7b", "megatron-22B", "turing-530B"}) {
    EXPECT_EQ(HasGatedFfn(Families(), Model(name)), false) << name;
  }
  EXPECT_EQ(HasGatedFfn(Families(), Model("something-7B")), std::nullopt);
  EXPECT_EQ(HasGatedFfn(Families(), Model("gpt-test_swiglu")), true);
  EXPECT_EQ(HasGatedFfn(Families(), Model("gpt-test", "flags: swiglu bf16")), true);
}

TEST(ModelFamilies, NotesOnTiedEmbeddingsGoBeforeTheName) {
  EXPECT_EQ(HasTiedEmbeddings(Families(), Model("llama-like", "a; tied embeddings")), true);
  EXPECT_EQ(HasTiedEmbeddings(Families(), Model("gpt3", "a; untied embeddings")), false);
  EXPECT_EQ(HasTiedEmbeddings(Families(), Model("gpt3", "untied input/output embeddings; b")),
            false);
  EXPECT_EQ(HasTiedEmbeddings(Families(), Model("gpt3", "untie-embeddings-and-output-weights")),
            false);
  EXPECT_EQ(HasTiedEmbeddings(Families(), Model("gpt3")), true);
  EXPECT_EQ(HasTiedEmbeddings(Families(), Model("llama-13B")), false);
  EXPECT_EQ(HasTiedEmbeddings(Families(), Model("llama-3.2-1b")), true);
  EXPECT_EQ(HasTiedEmbeddings(Families(), Model("other", "counts the tied embedding twice")),
            std::nullopt);
}

TEST(ModelFamilies, KnowExperts) {
  EXPECT_TRUE(HasExperts(Families(), Model("Mixtral-8x7B")));
  EXPECT_TRUE(HasExperts(Families(), Model("DeepSeekV3")));
  EXPECT_TRUE(HasExperts(Families(), Model("some-model", "v1; MoE 8 of 64")));
  EXPECT_TRUE(HasExperts(Families(), Model("some-model", "flags: num-experts=8")));
  Measurement row = Model("some-model");
  EXPECT_FALSE(HasExperts(Families(), row));
  row.ep = 1;
  EXPECT_FALSE(HasExperts(Families(), row));
  row.ep = 2;
  EXPECT_TRUE(HasExperts(Families(), row));
  EXPECT_FALSE(HasExperts(Families(), Model("llama-70B", "moebius")));
}

TEST(ModelFamilies, KnowTrainingOfAdapters) {
  EXPECT_TRUE(TrainsAdapters(Families(), Model("llama-70B", "v1; LoRA finetuning (packed)")));
  EXPECT_FALSE(TrainsAdapters(Families(), Model("llama-70B", "explorations; full finetuning")));
  EXPECT_FALSE(TrainsAdapters(Families(), Model("DeepSeek-V3", "attention=mla;kv_lora_rank=512")));
}

TEST(ModelFamilies, MalformedJsonNamesTheKey) {
  EXPECT_THAT(std::string(ModelFamiliesFromJson(R"({"experts": 1})").status().message()),
              HasSubstr("experts"));
  const auto untyped =
      ModelFamiliesFromJson(R"({"experts": {}, "adapters": {}, "families": [{"match": 3}]})");
  EXPECT_THAT(std::string(untyped.status().message()), HasSubstr("families.match"));
}

}  // namespace
}  // namespace meshwright::planner
