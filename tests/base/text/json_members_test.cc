#include "base/text/json_members.h"

#include <random>

#include "base/text/json_text.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace meshwright {
namespace {

TEST(JsonMembersTest, FindsTheTextOfAMember) {
  const char text[] = R"({"a":{"b":1,"c":"}"},"b":[1,{"b":2}],"s":"x,\"y\\","t":true})";
  EXPECT_EQ(FindMember(text, "a"), R"({"b":1,"c":"}"})");
  EXPECT_EQ(FindMember(text, "b"), R"([1,{"b":2}])");
  EXPECT_EQ(FindMember(text, "s"), R"("x,\"y\\")");
  EXPECT_EQ(FindMember(text, "t"), "true");
  EXPECT_EQ(FindMember(text, "c"), std::nullopt);
  EXPECT_EQ(FindMember("{}", "c"), std::nullopt);
}

TEST(JsonMembersTest, SetsAMemberWhereItsKeyBelongs) {
  EXPECT_EQ(WithMember("{}", "b", "1"), R"({"b":1})");
  EXPECT_EQ(WithMember(R"({"a":0})", "b", "1"), R"({"a":0,"b":1})");
  EXPECT_EQ(WithMember(R"({"c":0})", "b", "1"), R"({"b":1,"c":0})");
  EXPECT_EQ(WithMember(R"({"a":0,"c":{"b":2}})", "b", "1"), R"({"a":0,"b":1,"c":{"b":2}})");
}

TEST(JsonMembersTest, SetsAMemberInPlaceOfOneThatWasThere) {
  EXPECT_EQ(WithMember(R"({"b":[0]})", "b", "1"), R"({"b":1})");
  EXPECT_EQ(WithMember(R"({"a":0,"b":"x","c":0})", "b", "1"), R"({"a":0,"b":1,"c":0})");
  EXPECT_EQ(WithMember(R"({"a":0,"b":0})", "b", "{}"), R"({"a":0,"b":{}})");
}

TEST(JsonMembersTest, NothingComesOfAnotherText) {
  const std::string deep = std::string(80'000, '[') + std::string(80'000, ']');
  const std::string deep_inside = "{\"a\":" + deep + "}";
  for (const std::string& text :
       {std::string(), std::string("no JSON"), std::string("[1]"), std::string("{"),
        std::string("{\"a\""), std::string("{\"a\":"), std::string("{\"a\":}"),
        std::string("{\"a\":1"), std::string("{\"a\":1}}"), std::string("{\"a\":1,}"),
        std::string("{\"a\":\"1}"), std::string("{ \"a\": 1 }"), deep, deep_inside}) {
    EXPECT_EQ(FindMember(text, "a"), std::nullopt) << text.substr(0, 20);
    EXPECT_EQ(WithMember(text, "b", "1"), std::nullopt) << text.substr(0, 20);
  }
}

TEST(JsonMembersTest, AsDeepAsATextMayBe) {
  // One container of these is the object itself.
  for (const int depth : {kMaxJsonDepth - 1, kMaxJsonDepth}) {
    const auto size = static_cast<size_t>(depth);
    const std::string text = "{\"a\":" + std::string(size, '[') + std::string(size, ']') + "}";
    EXPECT_EQ(WithMember(text, "b", "1").has_value(), ParseJson("text", text).ok()) << depth;
  }
}

// The parser that reads values is the other way to the same text.
TEST(JsonMembersTest, MakesTheTextThatAParserWouldMake) {
  std::mt19937 random(0);
  const auto below = [&](int end) {
    return std::uniform_int_distribution<int>(0, end - 1)(random);
  };
  const nlohmann::json values[] = {1,
                                   -2.5,
                                   "a\"b\\",
                                   "{,}",
                                   nullptr,
                                   true,
                                   nlohmann::json::array(),
                                   nlohmann::json::object(),
                                   {1, 2},
                                   {{"k", {{"model", "]"}}}}};
  for (int round = 0; round < 2000; ++round) {
    nlohmann::json object = nlohmann::json::object();
    for (int i = below(6); i > 0; --i) {
      object[std::string(1, static_cast<char>('a' + below(8)))] = values[below(10)];
    }
    const std::string key(1, static_cast<char>('a' + below(8)));
    const nlohmann::json value = values[below(10)];
    const std::string before = object.dump();
    const auto found = FindMember(before, key);
    ASSERT_EQ(found.has_value(), object.contains(key)) << before;
    ASSERT_EQ(found.value_or(""), object.contains(key) ? object[key].dump() : "") << before;
    object[key] = value;
    ASSERT_EQ(WithMember(before, key, value.dump()), object.dump()) << before;
  }
}

}  // namespace
}  // namespace meshwright
