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

TEST(BasedOn, ProblemsNameIt) {
  const auto problem = [](const char* text) { return ClusterFromJson(text, 1).status(); };
  const absl::Status unknown = problem(R"({"name": "x", "based_on": "h10"})");
  EXPECT_EQ(FieldOf(unknown), "based_on");
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("h100"));
  const absl::Status number = problem(R"({"name": "x", "based_on": 3})");
  EXPECT_EQ(FieldOf(number), "based_on");
  EXPECT_THAT(std::string(number.message()), HasSubstr("must be the name of a preset"));
  const absl::Status chain = problem(R"({"name": "x", "based_on": "h100-94"})");
  EXPECT_EQ(FieldOf(chain), "based_on");
  EXPECT_THAT(std::string(chain.message()), HasSubstr("must be one that stands by itself"));
  EXPECT_EQ(FieldOf(problem(R"({"name": "x", "based_on": "h100", "memory": 1})")), "memory");
}

// Whoever sets a value says where it is from.
TEST(BasedOn, ShippedProfilesGiveSourcesForWhatTheySet) {
  const std::set<std::string> about_itself = {"name",     "based_on", "aliases",    "notes_contain",
                                              "variants", "sources",  "calibration"};
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
