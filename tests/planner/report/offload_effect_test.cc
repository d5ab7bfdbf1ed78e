#include "planner/report/offload_effect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/memory/rank_memory.h"
#include "tests/planner/offload_context.h"

namespace meshwright::planner {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::optional<OffloadEffect> OffloadEffectOf(const TestContext& test, const char* text) {
  const Layout layout = MakeLayout(text);
  return OffloadEffectOf(test.get(), {layout, EstimateLayout(test.get(), layout)});
}

TEST(OffloadEffect, IsNothingWhereNothingIsMoved) {
  EXPECT_FALSE(OffloadEffectOf(OffloadContext("llama-2-7b", 4096, 64), "tp1.pp1.dp8.zero1"));
}

TEST(OffloadEffect, SaysWhatAMicroBatchMoves) {
  TestContext test = OffloadContext("llama-2-7b", 4096, 64);
  test.cluster.host.link_bytes_per_s = 100e9;
  const auto effect = OffloadEffectOf(test, "tp1.pp2.dp4.offload=act:8");
  ASSERT_TRUE(effect);
  // Two micro-batches in flight on the first rank, one on the last.
  EXPECT_EQ(effect->host_bytes, 2 * effect->moved_bytes);
  EXPECT_EQ(effect->update_bytes, 0);
  EXPECT_EQ(effect->link_bytes_per_s, 100e9);
  EXPECT_THAT(effect->sentence,
              AllOf(HasSubstr("Offloading the activations of 8 layers moves"),
                    HasSubstr("a micro-batch down and up again, at 100 GB/s: 0.0 ms of a step of"),
                    HasSubstr("of 2048.00 GiB for a node."), Not(HasSubstr("optimizer"))));
  test.cluster.host.link_bytes_per_s = 5e9;
  const auto slow = OffloadEffectOf(test, "tp1.pp2.dp4.offload=act:8");
  EXPECT_GT(slow->exposed_s, 0.0);
  EXPECT_THAT(slow->sentence, AllOf(HasSubstr("at 5 GB/s"), Not(HasSubstr(": 0.0 ms"))));
}

TEST(OffloadEffect, SaysWhatAnUpdateMoves) {
  const TestContext test = OffloadContext("llama-2-7b", 4096, 64);
  const auto effect = OffloadEffectOf(test, "tp1.pp1.dp8.zero1.offload=act:1+opt");
  ASSERT_TRUE(effect);
  // 6 bytes for each of 6,738,415,616 / 8 parameters.
  EXPECT_EQ(effect->update_bytes, int64_t{6738415616} / 8 * 6);
  EXPECT_THAT(effect->sentence, HasSubstr("of 1 layer moves 0.50 GiB a micro-batch"));
  EXPECT_THAT(effect->sentence, HasSubstr(", and offloading the optimizer moves 4.71 GiB of "
                                          "gradients and weights a step, at 50 GB/s"));
}

}  // namespace
}  // namespace meshwright::planner
