#include "planner/catalog/profile_variants.h"

#include <string>
#include <string_view>

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "planner/catalog/catalog.h"
#include "planner/spec/run_option_table.h"

namespace meshwright::planner {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<FrameworkProfile> Variant(const std::string& profile, const RunOptions& options) {
  return VariantOf(FindProfile(profile).value(), options);
}

TEST(ProfileVariants, AreThoseThatTheOptionsName) {
  EXPECT_EQ(Variant("titan", {})->name, "torchtitan");
  EXPECT_EQ(Variant("torchtitan", {.compile = Compile::kOn})->name, "torchtitan");
  EXPECT_EQ(Variant("torchtitan", {.compile = Compile::kOff})->name, "torchtitan-eager");
  EXPECT_EQ(Variant("hf", {.compile = Compile::kOn})->name, "hf-fsdp2-compiled");
  EXPECT_EQ(Variant("megatron", {.dispatcher = Dispatcher::kDeepEp})->name, "megatron-deepep");
}

TEST(ProfileVariants, OfTwoOptionsHaveBoth) {
  const RunOptions both = {.cuda_graphs = CudaGraphs::kIteration,
                           .dispatcher = Dispatcher::kHybridEp};
  EXPECT_EQ(Variant("nemo", both)->name, "nemo-graphs");
  const RunOptions neither = {.cuda_graphs = CudaGraphs::kNone,
                              .dispatcher = Dispatcher::kAllToAll};
  EXPECT_EQ(Variant("nemo-hybridep", neither)->name, "nemo");
}

TEST(ProfileVariants, ThatAreNotKnownAreRefusedWithThoseThatAre) {
  EXPECT_THAT(std::string(Variant("megatron", {.compile = Compile::kOn}).status().message()),
              HasSubstr("compile = on: has no effect that is modelled for megatron"));
  EXPECT_THAT(
      std::string(Variant("nemo", {.cuda_graphs = CudaGraphs::kLayer}).status().message()),
      HasSubstr("cuda_graphs = layer: is not modelled for nemo; must be iteration or none"));
}

// Whatever the order in which options are given, each stays as it was chosen.
TEST(ProfileVariants, OfEveryPresetAreWhatTheyAreNamedFor) {
  for (const std::string& name : ProfileNames()) {
    const FrameworkProfile profile = FindProfile(name).value();
    for (const auto& [variant, other_name] : profile.variants) {
      const auto other = FindProfile(other_name);
      ASSERT_TRUE(other.ok()) << name << ": " << variant;
      EXPECT_EQ(other->name, other_name) << name << ": " << variant;
      bool named = false;
      for (const auto& [own, own_name] : other->variants) {
        named = named || (own == variant && own_name == other_name);
      }
      EXPECT_TRUE(named) << other_name << " does not say that it is " << variant;
      const std::pair<std::string, std::string> parts = absl::StrSplit(variant, '=');
      bool known = false;
      for (const RunOption& option : kRunOptions) {
        RunOptions options;
        known = known || (option.chooses_profile && option.name == parts.first &&
                          option.read(parts.second, options).ok());
      }
      EXPECT_TRUE(known) << name << ": " << variant;
    }
  }
}

}  // namespace
}  // namespace meshwright::planner
