#include "planner/catalog/profile_names.h"

#include <gtest/gtest.h>

#include <set>

#include "planner/catalog/catalog.h"
#include "planner/data/embedded.h"

namespace meshwright::planner {
namespace {

TEST(ProfileNames, AreThoseThatPeopleType) {
  EXPECT_EQ(FindProfile("trl")->name, "hf-fsdp2");
  EXPECT_EQ(FindProfile("FSDP2")->name, "hf-fsdp2");
  EXPECT_EQ(FindProfile("mcore")->name, "megatron");
  EXPECT_EQ(FindProfile("bridge")->name, "megatron-bridge");
  EXPECT_EQ(FindProfile("swift")->name, "ms-swift");
  EXPECT_EQ(FindProfile("nemo-automodel")->name, "automodel");
  EXPECT_EQ(FindProfile("zero3")->name, "deepspeed");
  EXPECT_EQ(ProfileNamed("megatron"), "");
  EXPECT_EQ(ProfileNamed("no-such"), "");
}

TEST(ProfileNames, AreFoundHoweverTheyAreSpelt) {
  EXPECT_EQ(FindProfile("LLaMA_Factory")->name, "deepspeed");
  EXPECT_EQ(FindProfile("Megatron Bridge")->name, "megatron-bridge");
  EXPECT_EQ(FindProfile("HF-FSDP2")->name, "hf-fsdp2");
}

TEST(ProfileNames, SayWhatEveryPresetDescribes) {
  std::set<std::string> frameworks;
  for (const std::string& profile : ProfileNames()) {
    EXPECT_FALSE(FrameworkOfProfile(profile).empty()) << profile;
    EXPECT_TRUE(frameworks.insert(FrameworkOfProfile(profile)).second) << profile;
  }
  EXPECT_EQ(FrameworkOfProfile("no-such"), "");
}

TEST(ProfileNames, StandForOneProfileEach) {
  std::set<std::string> seen;
  for (const std::string& profile : ProfileNames()) {
    for (const std::string& name : OtherNamesOfProfile(profile)) {
      EXPECT_TRUE(seen.insert(name).second) << name;
      EXPECT_EQ(ProfileNamed(name), profile);
    }
  }
  EXPECT_FALSE(seen.empty());
  for (const std::string& profile : ProfileNames()) EXPECT_FALSE(seen.contains(profile)) << profile;
}

}  // namespace
}  // namespace meshwright::planner
