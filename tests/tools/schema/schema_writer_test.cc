#include "tests/tools/schema/schema_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/enum_names.h"
#include "meshwright/v1/planner.pb.h"

namespace meshwright::cli {
namespace {

using nlohmann::ordered_json;
using testing::ElementsAre;

enum class Mood { kCalm, kHungry };
constexpr EnumNames<Mood, 2> kMoods = {{{Mood::kCalm, "calm"}, {Mood::kHungry, "hungry"}}};

struct Bowl {
  double mass_kg = 0.0;
};
template <typename Visitor>
void VisitFields(const Bowl& bowl, Visitor& visit) {
  visit({"mass_kg", "With what is in it, kg"}, bowl.mass_kg);
}

struct Cat {
  std::optional<Mood> mood;
  std::optional<int64_t> lives;
  std::vector<Bowl> bowls;
  std::map<std::string, bool> likes;
};
template <typename Visitor>
void VisitFields(const Cat& cat, Visitor& visit) {
  visit(planner::OrNull({"mood", "Null while it sleeps"}), cat.mood, kMoods);
  visit(planner::AtLeast(1, {"lives", "Absent where nobody counted"}), cat.lives);
  visit(planner::Closed({"bowls", "Those that it has"}), cat.bowls);
  visit(planner::OnlyIf(!cat.likes.empty(), {"likes", "By what there is"}), cat.likes);
  visit(planner::OnlyOnWire("chip"), planner::NoValue());
}

template <typename T>
ordered_json SchemaOf(SchemaSources& sources, const google::protobuf::Descriptor* message) {
  ordered_json schema;
  SchemaWriter(sources, "cat", schema, message).Write<T>();
  return schema;
}

TEST(SchemaWriterTest, SaysWhatFieldsMayBe) {
  SchemaSources sources;
  const ordered_json expected = ordered_json::parse(R"({
    "type": "object",
    "required": ["mood", "bowls"],
    "properties": {
      "mood": {"type": ["string", "null"], "description": "Null while it sleeps",
               "enum": ["calm", "hungry", null]},
      "lives": {"type": "integer", "description": "Absent where nobody counted", "minimum": 1},
      "bowls": {"type": "array", "description": "Those that it has", "items": {
        "type": "object", "required": ["mass_kg"],
        "properties": {"mass_kg": {"type": "number", "description": "With what is in it, kg"}},
        "additionalProperties": false}},
      "likes": {"type": "object", "description": "By what there is",
                "additionalProperties": {"type": "boolean"}}}})");
  EXPECT_EQ(SchemaOf<Cat>(sources, nullptr).dump(2), expected.dump(2));
  EXPECT_THAT(sources.problems, testing::IsEmpty());
}

// Fields of v1::SlowerPart, whose comments say what they are.
struct Described {
  std::string part;
  double more_s = 0.0;
};
template <typename Visitor>
void VisitFields(const Described& described, Visitor& visit) {
  visit("part", described.part);
  visit({"more_s", "Said again, seconds"}, described.more_s);
  visit("other", described.part);
}

TEST(SchemaWriterTest, TakesCommentsOfMessagesAndFindsWhatIsSaidTwiceOrNowhere) {
  SchemaSources sources;
  const ordered_json schema = SchemaOf<Described>(sources, v1::SlowerPart::descriptor());
  EXPECT_EQ(schema["properties"]["part"]["description"], "Name of the part, such as \"bubble\"");
  EXPECT_THAT(sources.problems, ElementsAre("cat.more_s is described beside its name and in "
                                            "meshwright.v1.SlowerPart.more_s",
                                            "cat.other is not described"));
}

}  // namespace
}  // namespace meshwright::cli
