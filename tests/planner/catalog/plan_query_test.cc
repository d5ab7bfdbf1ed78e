#include "planner/catalog/plan_query.h"

#include <gtest/gtest.h>

#include "base/text/field_error.h"

namespace meshwright::planner {
namespace {

PlanQuery QueryOf(const char* model) {
  PlanQuery query;
  query.model = {model, ""};
  query.cluster = {"h100", ""};
  query.devices = 8;
  query.training = {.seq_len = 4096, .global_batch = 8};
  return query;
}

TEST(PlanQueryTest, ASequenceHasOneImageIfTheFileSaysItsTokens) {
  EXPECT_EQ(Resolve(QueryOf("gemma-3-4b"), 8)->training.media_tokens, 256);
  EXPECT_EQ(Resolve(QueryOf("kimi-k2.5"), 8)->training.media_tokens, 0);
  EXPECT_EQ(Resolve(QueryOf("llama-3-8b"), 8)->training.media_tokens, 0);
  PlanQuery shorter = QueryOf("gemma-3-4b");
  shorter.training.seq_len = 128;
  EXPECT_EQ(Resolve(shorter, 8)->training.media_tokens, 128);
}

TEST(PlanQueryTest, MediaTokensAreThoseOfTheQuestion) {
  PlanQuery query = QueryOf("gemma-3-4b");
  query.media_tokens = 1024;
  EXPECT_EQ(Resolve(query, 8)->training.media_tokens, 1024);
  query.media_tokens = 0;
  EXPECT_EQ(Resolve(query, 8)->training.media_tokens, 0);
  query.media_tokens = 4097;
  EXPECT_EQ(FieldOf(Resolve(query, 8).status()), "media_tokens");
  query.media_tokens = -1;
  EXPECT_EQ(FieldOf(Resolve(query, 8).status()), "media_tokens");
}

TEST(PlanQueryTest, AModelWithoutATowerHasNoMediaTokens) {
  PlanQuery query = QueryOf("llama-3-8b");
  query.media_tokens = 0;
  EXPECT_TRUE(Resolve(query, 8).ok());
  query.media_tokens = 256;
  const absl::Status status = Resolve(query, 8).status();
  EXPECT_EQ(FieldOf(status), "media_tokens");
  EXPECT_NE(status.message().find("has no tower"), std::string::npos) << status;
}

TEST(PlanQueryTest, TheWorkerRunsItsOwnOptionsAlone) {
  PlanQuery query = QueryOf("llama-3-8b");
  query.training.options.loss_chunks = 8;
  EXPECT_TRUE(Resolve(query, 8).ok());
  query.framework = {"meshwright", ""};
  const absl::Status status = Resolve(query, 8).status();
  EXPECT_EQ(FieldOf(status), "loss");
  EXPECT_NE(status.message().find("chunked:8"), std::string::npos) << status;
}

std::string RefusalOfTrain(const char* model, const char* train) {
  PlanQuery query = QueryOf(model);
  query.training.options.train = ParseTrainedParts(train).value();
  const absl::Status status = Resolve(query, 8).status();
  return status.ok() ? "" : std::string(status.message());
}

TEST(PlanQueryTest, WhatTrainsIsAPartOfTheModel) {
  for (const char* train : {"lora:16", "qlora:8", "frozen:embedding,layers=0..31"}) {
    EXPECT_EQ(RefusalOfTrain("llama-3-8b", train), "") << train;
  }
  EXPECT_EQ(RefusalOfTrain("gemma-3-4b", "frozen:tower"), "");
  EXPECT_EQ(RefusalOfTrain("mixtral-8x7b", "lora:16:experts"), "");
  EXPECT_NE(RefusalOfTrain("llama-3-8b", "frozen:layers=0..32").find("at layer 31"),
            std::string::npos);
  EXPECT_NE(RefusalOfTrain("llama-3-8b", "frozen:tower").find("has none"), std::string::npos);
  EXPECT_NE(RefusalOfTrain("llama-3-8b", "lora:16:experts").find("has none"), std::string::npos);
  EXPECT_NE(RefusalOfTrain("nemotron-3-nano-30b-a3b", "lora:16:gate_proj").find("no linear layer"),
            std::string::npos);
}

TEST(PlanQueryTest, ABaseOfFourBitsIsForBf16) {
  PlanQuery query = QueryOf("llama-3-8b");
  query.training.options.train = ParseTrainedParts("qlora:16").value();
  query.training.precision = Precision::kFp32;
  EXPECT_EQ(FieldOf(Resolve(query, 8).status()), "train");
}

TEST(PlanQueryTest, TheWorkerTrainsAllWeights) {
  PlanQuery query = QueryOf("llama-3-8b");
  query.training.options.train = ParseTrainedParts("lora:16").value();
  query.framework = {"meshwright", ""};
  const absl::Status status = Resolve(query, 8).status();
  EXPECT_EQ(FieldOf(status), "train");
  EXPECT_NE(status.message().find("must be full"), std::string::npos) << status;
}

TEST(PlanQueryTest, TheWorkerUpdatesByAdamWAndMuonAlone) {
  PlanQuery query = QueryOf("llama-3-8b");
  query.training.optimizer = kLion;
  EXPECT_TRUE(Resolve(query, 8).ok());
  query.framework = {"meshwright", ""};
  EXPECT_EQ(FieldOf(Resolve(query, 8).status()), "optimizer");
}

TEST(PlanQueryTest, StatesOfExpertsNeedExperts) {
  PlanQuery query = QueryOf("llama-3-8b");
  query.training.options.experts = ExpertStates::kReplicated;
  EXPECT_EQ(FieldOf(Resolve(query, 8).status()), "experts");
  query.model.name = "mixtral-8x7b";
  EXPECT_TRUE(Resolve(query, 8).ok());
}

TEST(PlanQueryTest, StatesAreThoseOfBf16Weights) {
  PlanQuery query = QueryOf("llama-3-8b");
  query.training.options.states.gradient = StateFormat::kBf16;
  EXPECT_TRUE(Resolve(query, 8).ok());
  query.training.precision = Precision::kFp32;
  EXPECT_EQ(FieldOf(Resolve(query, 8).status()), "states");
}

TEST(PlanQueryTest, ASearchOverOptionsHasTheirCombinations) {
  PlanQuery query = QueryOf("llama-3-8b");
  query.search = {"loss=plain,chunked:8", "optimizer=adamw,lion"};
  query.best_per = "optimizer,tp";
  EXPECT_EQ(Resolve(query, 8)->choices.size(), 4u);
  EXPECT_TRUE(NotesOnSearch(query).empty());
}

TEST(PlanQueryTest, ASearchLeavesOutWhatTheFrameworkDoesNotHaveUnlessItIsNamed) {
  PlanQuery query = QueryOf("llama-3-8b");
  query.framework = {"meshwright", ""};
  query.search = {"optimizer"};
  const absl::StatusOr<SearchRequest> request = Resolve(query, 8);
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->choices.size(), 2u);
  EXPECT_EQ(NotesOnSearch(query).size(), 4u);
  query.search = {"optimizer=adamw,lion"};
  EXPECT_EQ(FieldOf(Resolve(query, 8).status()), "optimizer");
  query.search = {"loss=plain"};
  EXPECT_EQ(Resolve(query, 8)->choices.size(), 1u);
}

TEST(PlanQueryTest, ASearchMayVaryOptionsThatSelectAnotherProfile) {
  PlanQuery query = QueryOf("llama-3-8b");
  query.framework = {"hf-fsdp2", ""};
  query.search = {"compile"};
  query.mine = "dp8.zero3 compile=on";
  const absl::StatusOr<SearchRequest> request = Resolve(query, 8);
  ASSERT_TRUE(request.ok()) << request.status();
  ASSERT_EQ(request->choices.size(), 2u);
  ASSERT_EQ(request->choice_profiles.size(), 2u);
  EXPECT_EQ(request->profile.name, "hf-fsdp2");
  EXPECT_EQ(request->choice_profiles[0], nullptr);  // compile=off, as the profile is
  EXPECT_EQ(request->choice_profiles[1]->name, "hf-fsdp2-compiled");
  EXPECT_EQ(request->mine_profile->name, "hf-fsdp2-compiled");
  // The question's own options do not change what the others are chosen from.
  query.training.options.compile = Compile::kOn;
  EXPECT_EQ(Resolve(query, 8)->choice_profiles[0]->name, "hf-fsdp2");
  query.search = {"dispatcher"};
  EXPECT_EQ(FieldOf(Resolve(query, 8).status()), "dispatcher");
}

TEST(PlanQueryTest, ASearchOverAllValuesNamesThoseThatAFrameworkDoesNotHave) {
  PlanQuery query = QueryOf("llama-3-8b");
  query.framework = {"nemo", ""};
  query.search = {"cuda_graphs"};
  const absl::StatusOr<SearchRequest> request = Resolve(query, 8);
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->choices.size() + NotesOnSearch(query).size(), 4u);
  EXPECT_GE(request->choices.size(), 2u);
}

TEST(PlanQueryTest, TheUsersLayoutMayHaveOptions) {
  PlanQuery query = QueryOf("llama-3-8b");
  query.mine = "tp8.pp1.dp1  loss=chunked:8 states=master=none,grad=bf16,m=int8,v=int8";
  const absl::StatusOr<SearchRequest> request = Resolve(query, 8);
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->mine_options->options.loss_chunks, 8);
  EXPECT_EQ(request->mine_options->options.states.first_moment, StateFormat::kInt8);
  EXPECT_EQ(request->training.options, RunOptions());
  query.mine = "tp8.pp1.dp1 width=3";
  EXPECT_EQ(FieldOf(Resolve(query, 8).status()), "mine");
  query.mine = "tp8.pp1.dp1 loss=wide";
  EXPECT_EQ(FieldOf(Resolve(query, 8).status()), "loss");
  query.mine = " ";
  EXPECT_EQ(FieldOf(Resolve(query, 8).status()), "mine");
}

}  // namespace
}  // namespace meshwright::planner
