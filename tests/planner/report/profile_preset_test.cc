#include "planner/report/profile_preset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "planner/catalog/catalog.h"

namespace meshwright::planner {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

ProfilePreset ListedProfile(const std::string& name) {
  const std::vector<ProfilePreset> presets = ProfilePresets();
  const auto found = std::find_if(presets.begin(), presets.end(),
                                  [&](const ProfilePreset& preset) { return preset.name == name; });
  return found == presets.end() ? ProfilePreset() : *found;
}

TEST(ProfilePresets, AreAllThere) {
  const std::vector<ProfilePreset> presets = ProfilePresets();
  const std::vector<std::string> names = ProfileNames();
  ASSERT_EQ(presets.size(), names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(presets[i].name, names[i]);
    EXPECT_FALSE(presets[i].framework.empty()) << names[i];
    EXPECT_EQ(presets[i].median_error.has_value(), presets[i].evidence.rows > 0) << names[i];
  }
}

TEST(ProfilePresets, SayWhatASearchDividesARunBy) {
  const ProfilePreset hugging_face = ListedProfile("hf-fsdp2");
  EXPECT_THAT(hugging_face.axes, ElementsAre("tp", "cp", "hs"));
  EXPECT_THAT(hugging_face.schedules, IsEmpty());
  EXPECT_EQ(hugging_face.min_zero, 3);
  EXPECT_THAT(hugging_face.other_names, Contains("trl"));
  const ProfilePreset megatron = ListedProfile("megatron");
  EXPECT_THAT(megatron.axes, Contains("vpp"));
  EXPECT_THAT(megatron.schedules, ElementsAre("gpipe", "1f1b", "interleaved"));
  EXPECT_THAT(ListedProfile("deepspeed").axes, Not(Contains("hs")));
}

// A fit that comes with the base is the base's, whatever lies between.
TEST(ProfilePresets, NameTheOwnerOfAFit) {
  EXPECT_EQ(ListedProfile("nemo").evidence.name, "nemo");
  const ProfilePreset megatron = ListedProfile("megatron");
  EXPECT_EQ(megatron.based_on, "nemo");
  EXPECT_EQ(megatron.evidence.name, "nemo");
  EXPECT_EQ(megatron.evidence.rows, FindProfile("nemo")->calibration.rows);
  const ProfilePreset eager = ListedProfile("torchtitan-eager");
  EXPECT_EQ(eager.based_on, "torchtitan-fsdp");
  EXPECT_EQ(eager.evidence.kind, "assumption");
  EXPECT_EQ(eager.evidence.name, "torchtitan-eager");
}

}  // namespace
}  // namespace meshwright::planner
