#include "tools/cli/launcher/object_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace meshwright::cli {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

json Object(const std::string& name, int version, const std::string& state = "") {
  return {{"metadata", {{"name", name}, {"resourceVersion", std::to_string(version)}}},
          {"state", state}};
}

std::vector<std::string> Names(const ObjectCache& cache) {
  std::vector<std::string> names;
  for (const json& object : cache.Objects()) {
    const std::string name = object["metadata"]["name"];
    names.push_back(absl::StrCat(name, object["state"].get<std::string>()));
  }
  return names;
}

TEST(ObjectCacheTest, AListAndThenEventsTellWhatThereIs) {
  ObjectCache cache;
  EXPECT_EQ(cache.version(), "");
  cache.Replace({.objects = {Object("a", 1), Object("b", 2)}, .version = "4"});
  cache.Apply({WatchEvent::Kind::kPut, Object("c", 5)});
  cache.Apply({WatchEvent::Kind::kPut, Object("a", 6, "+")});
  cache.Apply({WatchEvent::Kind::kDeleted, Object("b", 7)});
  EXPECT_THAT(Names(cache), ElementsAre("a+", "c"));
  EXPECT_EQ(cache.version(), "7");
  cache.Apply({WatchEvent::Kind::kBookmark, json({{"metadata", {{"resourceVersion", "90"}}}})});
  EXPECT_EQ(cache.version(), "90");
  cache.Replace({.objects = {Object("d", 91)}, .version = "100"});
  EXPECT_THAT(Names(cache), ElementsAre("d"));
}

TEST(ObjectCacheTest, OwnWritesStayAlthoughTheServerShowsAnEarlierState) {
  ObjectCache cache;
  cache.Put(Object("mine", 10));
  cache.Replace({.objects = {}, .version = "9"});  // sent before the write
  EXPECT_THAT(Names(cache), ElementsAre("mine"));
  cache.Put(Object("mine", 12, "-ends"));
  cache.Apply({WatchEvent::Kind::kPut, Object("mine", 11, "-runs")});
  EXPECT_THAT(Names(cache), ElementsAre("mine-ends"));
  cache.Replace({.objects = {}, .version = "13"});  // sent after it
  EXPECT_THAT(Names(cache), IsEmpty());
  // A name that is used again.
  cache.Put(Object("mine", 20));
  cache.Apply({WatchEvent::Kind::kDeleted, Object("mine", 14)});
  EXPECT_THAT(Names(cache), ElementsAre("mine"));
}

TEST(ObjectCacheTest, ObjectsWithoutANameAreIgnored) {
  ObjectCache cache;
  for (const json& odd : {json(), json(3), json::array(), json::object(), json({{"metadata", 3}}),
                          json({{"metadata", {{"name", 3}}}})}) {
    cache.Apply({WatchEvent::Kind::kPut, odd});
    cache.Apply({WatchEvent::Kind::kDeleted, odd});
  }
  EXPECT_THAT(Names(cache), IsEmpty());
}

}  // namespace
}  // namespace meshwright::cli
