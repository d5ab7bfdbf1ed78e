#include "base/text/json_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/field_error.h"
#include "base/text/message_text.h"
#include "planner/catalog/catalog.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string Nested(int levels) { return std::string(levels, '[') + std::string(levels, ']'); }

std::string WhyNot(std::string_view text, size_t max_bytes = kMaxJsonBytes) {
  const absl::StatusOr<json> parsed = ParseJson("spec", text, max_bytes);
  EXPECT_TRUE(absl::IsInvalidArgument(parsed.status())) << parsed.status();
  EXPECT_EQ(FieldOf(parsed.status()), "spec");
  return std::string(parsed.status().message());
}

TEST(ParseJson, ReadsWhatIsAsDeepAsAllowed) {
  EXPECT_TRUE(ParseJson("spec", Nested(kMaxJsonDepth)).ok());
  EXPECT_TRUE(ParseJson("spec", R"({"brackets in a text": "[[[[{{{{\"[["})", 100).ok());
  EXPECT_TRUE(ParseJson("spec", "[" + std::string(1000, ' ') + "[],[],[]]").ok());
}

TEST(ParseJson, RefusesDeeperTextAndSaysWhere) {
  EXPECT_THAT(WhyNot(Nested(kMaxJsonDepth + 1)),
              HasSubstr("is nested too deep at line 1, column 65: must be JSON with at most 64"));
  // As deep as it takes to end a process that walks the value.
  EXPECT_THAT(WhyNot("{\"a\":\n" + Nested(80'000)), HasSubstr("at line 2, column 64"));
}

TEST(ParseJson, RefusesWhatIsTooLargeBeforeItReadsIt) {
  EXPECT_THAT(WhyNot("[1, 2]", 5), HasSubstr("spec = (6 bytes): must be at most 5 bytes"));
}

TEST(ParseJson, SaysWhereTheTextBreaksOff) {
  EXPECT_THAT(WhyNot("{\n  \"a\": 1,\n  b\n}"), HasSubstr("line 3, column 3: is not valid JSON"));
  EXPECT_THAT(WhyNot("{\n  \"a\": 1,"),
              HasSubstr("is not valid JSON: the text ends before it does"));
  EXPECT_THAT(WhyNot("{\"a\": 1"), HasSubstr("line 1, column 8"));
  EXPECT_THAT(WhyNot(""), HasSubstr("line 1, column 1"));
  EXPECT_THAT(WhyNot("1e999"), HasSubstr("out of range"));
}

TEST(ParseOrderedJson, KeepsTheOrderOfKeys) {
  EXPECT_EQ(ParseOrderedJson("spec", R"({"b":1,"a":2})")->dump(), R"({"b":1,"a":2})");
}

TEST(ShowJson, NamesContainersAndShortensTheRest) {
  EXPECT_EQ(ShowJson(json::object({{"a", 1}})), "an object");
  EXPECT_EQ(ShowJson(json::array({1})), "an array");
  EXPECT_EQ(ShowJson(1.5), "1.5");
  EXPECT_EQ(ShowJson(std::string(100, 'x')), "\"" + std::string(59, 'x') + "... (102 bytes)");
}

TEST(ShortText, CutsBetweenCharacters) {
  EXPECT_EQ(ShortText("abc", 3), "abc");
  EXPECT_EQ(ShortText("ab\xc3\xa9", 3), "ab... (4 bytes)");
}

TEST(FieldError, ShowsOnlyTheBeginningOfALongValue) {
  const absl::Status status = FieldError("model_type", std::string(100'000, 'x'), "must be llama");
  EXPECT_LT(status.message().size(), 500u);
  EXPECT_THAT(std::string(status.message()), HasSubstr("... (100000 bytes): must be llama"));
}

// 160 KB of brackets where a number, a text or an unknown key stands.
TEST(ModelFromConfig, OutlivesADeepValue) {
  for (const char* key : {"hidden_size", "model_type", "layer_types", "surprise"}) {
    const std::string config = "{\"" + std::string(key) + "\": " + Nested(80'000) + "}";
    const auto model = ModelFromConfig("test", config, 4096);
    EXPECT_TRUE(absl::IsInvalidArgument(model.status())) << key;
    EXPECT_EQ(FieldOf(model.status()), "model");
    EXPECT_LT(model.status().message().size(), 200u);
  }
}

TEST(ModelFromConfig, NamesTheTypeOfAContainer) {
  const char* config = R"({"model_type": "llama", "hidden_size": [[4096]], "num_hidden_layers": 1,
                           "num_attention_heads": 1, "vocab_size": 1})";
  EXPECT_EQ(ModelFromConfig("test", config, 4096).status().message(),
            "hidden_size = an array: must be a whole number");
}

}  // namespace
}  // namespace meshwright::planner
