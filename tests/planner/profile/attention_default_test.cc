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

TEST(DefaultAttention, IsFlash2WhereTheDeviceLacksTheProfilesKernel) {
  FrameworkProfile profile = FindProfile("halo").value();
  profile.supports.attention = AttentionKernel::kFlash4;
  const ModelSpec model = FindModel(kModel).value();
  const auto on = [&](const char* cluster) {
    return DefaultAttention(profile, FindCluster(cluster, 8).value(), model, Precision::kBf16);
  };
  EXPECT_EQ(on("b300"), AttentionKernel::kFlash4);
  EXPECT_EQ(on("a100-80"), AttentionKernel::kFlash2);
}

TEST(SdpaAttention, IsTheFastestThatTheDeviceNamesUnderAnyProfile) {
  const auto sdpa = [](const char* cluster, Precision precision) {
    return SdpaAttention(FindProfile("verl").value(), WithFastCudnn(cluster),
                         FindModel(kModel).value(), precision);
  };
  EXPECT_EQ(sdpa("h100", Precision::kBf16), AttentionKernel::kCudnn);
  EXPECT_EQ(sdpa("h100", Precision::kFp32), AttentionKernel::kFlash2);
  EXPECT_EQ(sdpa("local-cpu", Precision::kBf16), AttentionKernel::kFlash2);
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

absl::StatusOr<EstimateAnswer> Answer(const char* framework, const ClusterSpec& cluster,
                                      const char* layout) {
  PlanQuery query;
  query.model.name = kModel;
  query.cluster = {"here", ClusterToJson(cluster)};
  query.framework.name = framework;
  query.devices = 8;
  query.training = {.seq_len = 8192, .global_batch = 64};
  return AnswerEstimate(query, layout, 8);
}

double StepSeconds(const ClusterSpec& cluster, const char* layout) {
  return Answer("meshwright", cluster, layout)->estimate.time.step_s();
}

TEST(SdpaAttention, OfALayoutIsTheKernelThatTheAnswerNames) {
  const ClusterSpec cluster = WithFastCudnn("h100");
  const auto sdpa = Answer("verl", cluster, "tp1.pp1.dp8.zero3.attn=sdpa");
  const auto cudnn = Answer("verl", cluster, "tp1.pp1.dp8.zero3.attn=cudnn");
  ASSERT_TRUE(sdpa.ok()) << sdpa.status();
  EXPECT_EQ(sdpa->rests_on.attention_kernel, AttentionKernel::kCudnn);
  EXPECT_EQ(sdpa->estimate, cudnn->estimate);
  EXPECT_EQ(Answer("verl", cluster, "tp1.pp1.dp8.zero3")->rests_on.attention_kernel,
            AttentionKernel::kFlash2);
}

TEST(SdpaAttention, OtherKernelsAreRefusedOnDevicesWithoutThem) {
  EXPECT_EQ(Answer("verl", FindCluster("a100-80", 8).value(), "tp1.pp1.dp8.zero3.attn=flash4")
                .status()
                .message(),
            "layout = tp1.cp1.pp1.dp8.mb1.vpp1.zero3.sp0.rc=none.sched=1f1b.attn=flash4: the "
            "device does not run attn=flash4; it runs flash2, flash1, cudnn, sdpa, fused_softmax, "
            "eager");
  EXPECT_TRUE(Answer("verl", FindCluster("b200", 8).value(), "tp1.pp1.dp8.zero3.attn=flash4").ok());
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
