#include "planner/profile/attention_default.h"

#include <gtest/gtest.h>

#include "planner/catalog/catalog.h"
#include "planner/report/answers.h"

namespace meshwright::planner {
namespace {

// Heads of 64.
constexpr char kModel[] = "llama-3.2-1b";

ClusterSpec WithFastCudnn(const char* preset) {
  ClusterSpec cluster = FindCluster(preset, 8).value();
  cluster.device.cudnn_ratio = 1.5;
  cluster.device.fastest_attention = {
      {.head_dim = 64, .kernel = AttentionKernel::kCudnn, .source = "a test"}};
  return cluster;
}

AttentionKernel Default(const char* profile, const char* cluster, const char* model,
                        Precision precision) {
  return DefaultAttention(FindProfile(profile).value(), WithFastCudnn(cluster),
                          FindModel(model).value(), precision);
}

TEST(DefaultAttention, IsTheMeasuredOneForHeadsOfItsSize) {
  EXPECT_EQ(Default("meshwright", "h100", kModel, Precision::kBf16), AttentionKernel::kCudnn);
  // Heads of 128.
  EXPECT_EQ(Default("meshwright", "h100", "llama-3-8b", Precision::kBf16),
            AttentionKernel::kFlash2);
}

TEST(DefaultAttention, IsTheProfilesWhereTheWorkerHasOneKernel) {
  EXPECT_EQ(Default("meshwright", "local-cpu", kModel, Precision::kBf16), AttentionKernel::kFlash2);
  EXPECT_EQ(Default("meshwright", "h100", kModel, Precision::kFp32), AttentionKernel::kFlash2);
}

TEST(DefaultAttention, OfOtherFrameworksIsTheirOwn) {
  const FrameworkProfile megatron = FindProfile("megatron").value();
  EXPECT_EQ(Default("megatron", "h100", kModel, Precision::kBf16), megatron.supports.attention);
}

TEST(DefaultAttention, IsTheFastestWherePyTorchPicksIt) {
  EXPECT_EQ(Default("torchtitan", "h100", kModel, Precision::kBf16), AttentionKernel::kCudnn);
  EXPECT_EQ(Default("hf", "h100", kModel, Precision::kBf16), AttentionKernel::kCudnn);
}

AttentionKernel OfPreset(const char* cluster, const char* model) {
  return DefaultAttention(FindProfile("meshwright").value(), FindCluster(cluster, 8).value(),
                          FindModel(model).value(), Precision::kBf16);
}

TEST(DefaultAttention, IsCudnnsOnTheH100WhereItWasMeasured) {
  for (const char* cluster : {"h100", "h100-500w"}) {
    EXPECT_EQ(OfPreset(cluster, kModel), AttentionKernel::kCudnn) << cluster;
    EXPECT_EQ(OfPreset(cluster, "llama-3-8b"), AttentionKernel::kCudnn) << cluster;
  }
  EXPECT_EQ(OfPreset("a100-80", kModel), AttentionKernel::kFlash2);
}

double StepSeconds(const ClusterSpec& cluster, const char* layout) {
  PlanQuery query;
  query.model.name = kModel;
  query.cluster = {"here", ClusterToJson(cluster)};
  query.framework.name = "meshwright";
  query.devices = 8;
  query.training = {.seq_len = 8192, .global_batch = 64};
  return AnswerEstimate(query, layout, 8)->estimate.time.step_s();
}

TEST(DefaultAttention, IsWhatTheEstimateIsAbout) {
  const ClusterSpec measured = WithFastCudnn("h100");
  const double flash_s = StepSeconds(measured, "tp1.pp1.dp8.attn=flash2");
  const double cudnn_s = StepSeconds(measured, "tp1.pp1.dp8.attn=cudnn");
  EXPECT_LT(cudnn_s, flash_s);
  EXPECT_EQ(StepSeconds(measured, "tp1.pp1.dp8"), cudnn_s);
  const ClusterSpec unmeasured = FindCluster("a100-80", 8).value();
  EXPECT_EQ(StepSeconds(unmeasured, "tp1.pp1.dp8"),
            StepSeconds(unmeasured, "tp1.pp1.dp8.attn=flash2"));
}

}  // namespace
}  // namespace meshwright::planner
