#include "planner/interchange/framework.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_split.h"
#include "base/text/string_view.h"
#include "planner/catalog/catalog.h"

namespace meshwright::planner {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> Named(std::string_view name) {
  std::vector<std::string> names;
  for (const Framework* framework : FrameworksNamed(name)) names.emplace_back(framework->name);
  return names;
}

TEST(FrameworksNamed, KnowsProfilesAndTheNamesThatPeopleType) {
  EXPECT_THAT(Named("hf-fsdp2"), ElementsAre("accelerate", "axolotl"));
  EXPECT_THAT(Named("TRL"), ElementsAre("accelerate", "axolotl"));
  EXPECT_THAT(Named("LLaMA-Factory"), ElementsAre("llamafactory"));
  EXPECT_THAT(Named("llama_factory"), ElementsAre("llamafactory"));
  EXPECT_THAT(Named("deepspeed"), ElementsAre("deepspeed"));
  EXPECT_THAT(Named("zero3"), ElementsAre("deepspeed", "llamafactory"));
  EXPECT_THAT(Named("mcore"), ElementsAre("megatron"));
  EXPECT_THAT(Named("nemo"), ElementsAre("megatron-bridge"));
  EXPECT_THAT(Named("titan"), ElementsAre("torchtitan"));
  EXPECT_THAT(Named("torchtitan-eager"), ElementsAre("torchtitan"));
  EXPECT_THAT(Named("swift"), ElementsAre("ms-swift"));
  EXPECT_THAT(Named("nemo-automodel"), ElementsAre("automodel"));
  EXPECT_THAT(Named("verl-fsdp"), ElementsAre("verl"));
  EXPECT_THAT(Named("torchtune"), IsEmpty());
  EXPECT_THAT(Named("no such name"), IsEmpty());
}

TEST(FindFramework, ListsTheFrameworksForAnUnknownName) {
  EXPECT_EQ((*FindFramework("to", "accelerate"))->name, "accelerate");
  EXPECT_EQ((*FindFramework("to", "hf"))->name, "accelerate");
  EXPECT_THAT(std::string(FindFramework("to", "torchtune").status().message()),
              HasSubstr("must be megatron, megatron-bridge, torchtitan"));
}

TEST(Frameworks, NameProfilesThatExist) {
  for (const Framework* framework : Frameworks()) {
    EXPECT_TRUE(FindProfile(framework->profile).ok()) << framework->name;
    for (const absl::string_view further :
         absl::StrSplit(AbslView(framework->further_profiles), ' ', absl::SkipEmpty())) {
      EXPECT_TRUE(FindProfile(StdView(further)).ok()) << further;
    }
  }
}

}  // namespace
}  // namespace meshwright::planner
