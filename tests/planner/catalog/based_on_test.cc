#include "planner/catalog/based_on.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "base/text/field_error.h"
#include "planner/catalog/catalog.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kFasterH100 = R"({
  "name": "faster", "based_on": "h100",
  "device": {"memory_bytes_per_s": 4.0e12}, "rests_on": "data_sheet", "calibration": null})";

TEST(BasedOn, TakesWhatItDoesNotSayFromTheBase) {
  const ClusterSpec base = FindCluster("h100", 1).value();
  ClusterSpec expected = base;
  expected.name = "faster";
  expected.device.memory_bytes_per_s = 4.0e12;
  expected.gpu_names.clear();
  expected.calibration = {};
  expected.rests_on = Evidence::kDataSheet;
  EXPECT_GT(base.calibration.rows, 0);
  EXPECT_EQ(ClusterFromJson(kFasterH100, 1).value(), expected);
}

TEST(BasedOn, IsFoundWhereTheCallerLooks) {
  json other = json::parse(*ClusterText("h100"));
  other["device"]["matmul_efficiency"] = 0.55;
  const auto find = [&](std::string_view name) -> absl::StatusOr<std::string> {
    EXPECT_EQ(name, "h100");
    return other.dump();
  };
  EXPECT_EQ(ClusterFromJson(kFasterH100, 1, find)->device.matmul_efficiency, 0.55);
}

TEST(BasedOn, KeepsTheFitOfTheBaseAndNotItsNames) {
  const FrameworkProfile base = FindProfile("torchtitan-fsdp").value();
  FrameworkProfile expected = base;
  expected.name = "x";
  expected.states.gradient_bytes = 3;
  expected.aliases.clear();
  expected.notes_contain.clear();
  EXPECT_GT(base.calibration.rows, 0);
  EXPECT_EQ(ProfileFromJson(R"({"name": "x", "based_on": "torchtitan-fsdp", "gradient_bytes": 3})")
                .value(),
            expected);
}

// Finds made-up presets by name.
class FewPresets {
 public:
  explicit FewPresets(const std::string& text) : presets_(json::parse(text)) {}
  absl::StatusOr<std::string> operator()(std::string_view name) const {
    const auto found = presets_.find(name);
    if (found == presets_.end()) return absl::NotFoundError("no such preset");
    return found->dump();
  }

 private:
  json presets_;
};

absl::StatusOr<json> Resolved(const char* text, const FewPresets& presets) {
  return OnItsBase("framework", json::parse(text), presets);
}

TEST(BasedOn, FollowsBasesOfBases) {
  const FewPresets presets(R"({
    "first": {"name": "first", "aliases": ["a"], "low": 1, "middle": 1, "high": 1},
    "second": {"name": "second", "based_on": "first", "aliases": ["b"], "middle": 2, "high": 2}})");
  EXPECT_EQ(Resolved(R"({"name": "third", "based_on": "second", "high": 3})", presets).value(),
            json::parse(R"({"name": "third", "low": 1, "middle": 2, "high": 3})"));
}

TEST(BasedOn, ANullOnTheWayIsTheDefault) {
  const FewPresets presets(R"({"first": {"calibration": 1, "low": 1},
                               "second": {"based_on": "first", "calibration": null}})");
  EXPECT_EQ(Resolved(R"({"based_on": "second"})", presets).value(), json::parse(R"({"low": 1})"));
}

TEST(BasedOn, RefusesARound) {
  const FewPresets two(R"({"a": {"based_on": "b"}, "b": {"based_on": "a"}})");
  const absl::Status round = Resolved(R"({"based_on": "a"})", two).status();
  EXPECT_EQ(FieldOf(round), "based_on");
  EXPECT_EQ(
      round.message(),
      "based_on = a: is based on itself through b; must lead to a preset that stands by itself");
  const FewPresets one(R"({"a": {"based_on": "a"}})");
  EXPECT_EQ(Resolved(R"({"based_on": "a"})", one).status().message(),
            "based_on = a: is based on itself; must lead to a preset that stands by itself");
  // A user's file may have the name of the preset that it changes.
  EXPECT_TRUE(ClusterFromJson(R"({"name": "h100", "based_on": "h100"})", 1).ok());
}

TEST(BasedOn, RefusesALongChain) {
  json chain = json::parse(R"({"0": {}})");
  for (int i = 1; i <= 8; ++i) {
    chain[std::to_string(i)]["based_on"] = std::to_string(i - 1);
  }
  const FewPresets presets(chain.dump());
  EXPECT_TRUE(Resolved(R"({"based_on": "7"})", presets).ok());
  const absl::Status longer = Resolved(R"({"based_on": "8"})", presets).status();
  EXPECT_EQ(FieldOf(longer), "based_on");
  EXPECT_THAT(std::string(longer.message()), HasSubstr("must have at most 7 presets before it"));
}

TEST(BasedOn, IsReadOffAPresetsText) {
  EXPECT_EQ(BaseNameIn(*ClusterText("h100-94")), "h100");
  EXPECT_EQ(BaseNameIn(*ClusterText("h100")), "");
  EXPECT_EQ(BaseNameIn("no JSON"), "");
}

TEST(BasedOn, PresetsMayBeBasedOnPresetsThatAre) {
  const ClusterSpec base = FindCluster("h100-94", 1).value();
  EXPECT_EQ(ClusterFromJson(R"({"name": "x", "based_on": "h100-94"})", 1)->device.memory_bytes,
            base.device.memory_bytes);
}

TEST(BasedOn, ProblemsNameIt) {
  const auto problem = [](const char* text) { return ClusterFromJson(text, 1).status(); };
  const absl::Status unknown = problem(R"({"name": "x", "based_on": "h10"})");
  EXPECT_EQ(FieldOf(unknown), "based_on");
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("h100"));
  const absl::Status number = problem(R"({"name": "x", "based_on": 3})");
  EXPECT_EQ(FieldOf(number), "based_on");
  EXPECT_THAT(std::string(number.message()), HasSubstr("must be the name of a preset"));
  EXPECT_EQ(FieldOf(problem(R"({"name": "x", "based_on": "h100", "memory": 1})")), "memory");
}

// Whoever sets a value says where it is from.
TEST(BasedOn, ShippedProfilesGiveSourcesForWhatTheySet) {
  const std::set<std::string> about_itself = {"name", "based_on", "aliases", "notes_contain",
                                              "rows", "variants", "sources", "calibration"};
  int found = 0;
  for (const std::string& name : ProfileNames()) {
    const json own = json::parse(*ProfileText(name));
    if (!own.contains("based_on")) continue;
    ++found;
    for (const auto& [key, value] : own.items()) {
      if (about_itself.contains(key)) continue;
      EXPECT_TRUE(own["sources"].contains(key)) << name << ": " << key;
    }
  }
  EXPECT_GT(found, 0);
}

}  // namespace
}  // namespace meshwright::planner
