#include "planner/search/asked_for.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "planner/catalog/plan_query.h"

namespace meshwright::planner {
namespace {

using testing::HasSubstr;

absl::Status AskFor(const char* cluster, const char* framework, const char* offload,
                    Precision precision = Precision::kBf16) {
  const PlanQuery query{.model = {"llama-3.2-1b", ""},
                        .cluster = {cluster, ""},
                        .framework = {framework, ""},
                        .devices = 8,
                        .training = {.seq_len = 2048, .global_batch = 64, .precision = precision},
                        .offload = offload};
  return CheckAskedFor(Resolve(query, /*host_cores=*/2).value());
}

TEST(AskedFor, AFormatThatTheDeviceLacksIsRefusedByItsName) {
  const absl::Status status = AskFor("v100-16", "deepspeed", "");
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("dtype = bf16: the cluster's device has no products for bf16: its "
                        "peak_bf16_flops is 0; must be fp16 or fp32"));
  EXPECT_TRUE(AskFor("v100-16", "deepspeed", "", Precision::kFp16).ok());
  EXPECT_FALSE(AskFor("a100-80", "megatron", "", Precision::kFp8Current).ok());
}

TEST(AskedFor, AnOffloadThatNothingCanDoIsRefusedWithTheReason) {
  EXPECT_THAT(std::string(AskFor("rtx-3090", "deepspeed", "opt+param").message()),
              HasSubstr("offload = opt+param: offload= needs the cluster's "
                        "host.memory_bytes, which is not given"));
  EXPECT_THAT(std::string(AskFor("rtx-3090:8,ram=512GB", "hf-fsdp2", "opt").message()),
              HasSubstr("offload = opt: the framework moves states to the host with "
                        "offload=opt+param+grad alone"));
  EXPECT_TRUE(AskFor("rtx-3090:8,ram=512GB", "deepspeed", "opt,opt+param").ok());
}

TEST(AskedFor, APagedOptimizerWithoutFiguresOfTheHostIsRefused) {
  PlanQuery query = {.model = {"llama-3-8b", ""},
                     .cluster = {"rtx-3090", ""},
                     .framework = {"hf-fsdp2", ""},
                     .devices = 8,
                     .training = {.seq_len = 2048, .global_batch = 64, .optimizer = kPagedAdamW}};
  EXPECT_EQ(
      CheckAskedFor(Resolve(query, /*host_cores=*/2).value()).message(),
      "optimizer = paged-adamw: a paged optimizer needs the cluster's "
      "host.memory_bytes, which is not given; must be what the data sheet of its nodes says, such "
      "as --cluster NAME,ram=512GB");
  query.cluster.name = "rtx-3090:8,ram=512GB";
  EXPECT_TRUE(CheckAskedFor(Resolve(query, /*host_cores=*/2).value()).ok());
}

}  // namespace
}  // namespace meshwright::planner
