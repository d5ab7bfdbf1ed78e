#include "planner/catalog/typed_layout.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "planner/catalog/catalog.h"

namespace meshwright::planner {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TypedLayout Typed(const std::string& text, const std::string& model,
                  const std::string& framework) {
  return ReadTypedLayout(text, FindModel(model).value(), FindProfile(framework).value(),
                         std::nullopt)
      .value();
}

TEST(TypedLayout, HasTheEtpOfTheFrameworkWhereItSaysEpAlone) {
  const TypedLayout megatron = Typed("tp2.pp1.dp8.ep8.sp1", "mixtral-8x7b", "megatron");
  EXPECT_EQ(megatron.layout.etp, 2);
  EXPECT_THAT(megatron.notes, ElementsAre(StartsWith("etp2: megatron divides experts")));
  EXPECT_EQ(Typed("tp2.pp1.dp8.ep8.etp1.sp1", "mixtral-8x7b", "megatron").layout.etp, 1);
  EXPECT_EQ(Typed("tp2.pp1.dp8.ep8.sp1", "mixtral-8x7b", "torchtitan").layout.etp, 1);
}

// As the planner itself writes a layout whose experts are not divided.
TEST(TypedLayout, IsAsItIsWrittenWhereItSaysNoEp) {
  const TypedLayout typed = Typed("tp2.pp1.dp8.sp1", "mixtral-8x7b", "megatron");
  EXPECT_EQ(typed.layout.etp, 1);
  EXPECT_THAT(typed.notes, IsEmpty());
  EXPECT_EQ(Typed("tp2.pp1.dp8.ep1.sp1", "llama-3-8b", "megatron").layout.etp, 1);
}

TEST(TypedLayout, OnOneDataParallelRankShardsNothing) {
  const TypedLayout typed = Typed("tp2.pp1.dp1.zero2", "llama-3-8b", "megatron");
  EXPECT_EQ(typed.layout.zero, 0);
  EXPECT_THAT(typed.notes, ElementsAre("zero2 has nothing to shard over on one data-parallel rank: "
                                       "planned as zero0"));
  EXPECT_EQ(Typed("tp1.pp1.dp1.cp2.zero2", "llama-3-8b", "megatron").layout.zero, 2);
}

TEST(TypedLayout, ThatCantBeReadIsRefused) {
  EXPECT_FALSE(ReadTypedLayout("tp2.zz1", FindModel("llama-3-8b").value(),
                               FindProfile("megatron").value(), std::nullopt)
                   .ok());
}

}  // namespace
}  // namespace meshwright::planner
