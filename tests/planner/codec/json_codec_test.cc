#include "planner/codec/json_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "base/text/field_error.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;
using testing::HasSubstr;

enum class Mood : uint8_t { kCalm, kHungry };
constexpr EnumNames<Mood, 2> kMoodNames = {{{Mood::kCalm, "calm"}, {Mood::kHungry, "hungry"}}};

// As text: "x7".
struct Chip {
  int32_t number = 0;

  friend bool operator==(const Chip&, const Chip&) = default;
};
constexpr TextForm kChipText{[](const Chip& chip) { return "x" + std::to_string(chip.number); },
                             [](std::string_view text) -> absl::StatusOr<Chip> {
                               if (text.size() != 2 || text[0] != 'x')
                                 return FieldError("chip", text, "must be x and a digit");
                               return Chip{text[1] - '0'};
                             }};

struct Nap {
  double begin_s = 0.0;
  double end_s = 0.0;

  friend bool operator==(const Nap&, const Nap&) = default;
};

struct Vet {
  std::string name;
  int64_t fee = 0;

  friend bool operator==(const Vet&, const Vet&) = default;
};

struct Game {
  std::string name;
  int32_t played = 0;

  friend bool operator==(const Game&, const Game&) = default;
};

struct Visit {
  double weighed_kg = 0.0;
  double expected_kg = 0.0;
  std::vector<Vet> vets;

  friend bool operator==(const Visit&, const Visit&) = default;
};

struct Cat {
  std::string name;
  int32_t lives = 9;
  uint64_t tag = 0;
  bool indoor = false;
  std::optional<double> mass_kg;
  std::optional<double> length_m;
  Mood mood = Mood::kCalm;
  std::optional<Chip> chip;
  std::vector<Nap> naps;
  std::map<std::string, int64_t> toys;
  std::vector<Game> games;
  std::optional<Vet> vet;
  std::optional<Visit> visit;

  friend bool operator==(const Cat&, const Cat&) = default;
};

constexpr TextParts kSeen = 1;
constexpr TextParts kGuessed = 2;
constexpr std::array<TextPart, 2> kVisitParts = {
    {{"seen", "What was seen"}, {"guessed", "What was guessed"}}};

template <ConstOr<Nap> N, typename Visitor>
void VisitFields(N& nap, Visitor& visit) {
  visit("begin_s", nap.begin_s);
  visit("end_s", nap.end_s);
}

template <ConstOr<Game> G, typename Visitor>
void VisitFields(G& game, Visitor& visit) {
  visit(Needed("played"), game.played);
}

template <ConstOr<Vet> V, typename Visitor>
void VisitFields(V& vet, Visitor& visit) {
  visit(Needed("vet_name"), vet.name);
  visit(InParts(kGuessed, Needed("fee")), vet.fee);
}

template <ConstOr<Visit> V, typename Visitor>
void VisitFields(V& at, Visitor& visit) {
  visit(InParts(kSeen, Needed("weighed_kg")), at.weighed_kg);
  visit(InParts(kGuessed, Needed("expected_kg")), at.expected_kg);
  visit("vets", at.vets);
}

template <ConstOr<Cat> C, typename Visitor>
void VisitFields(C& cat, Visitor& visit) {
  visit(Needed("name"), cat.name);
  visit("lives", cat.lives);
  visit("tag", cat.tag);
  visit("indoor", cat.indoor);
  visit("mass_kg", cat.mass_kg);
  visit(OrNull("length_m"), cat.length_m);
  visit("mood", cat.mood, kMoodNames);
  visit("chip", cat.chip, kChipText);
  visit(AsList("naps"), cat.naps);
  visit("toys", cat.toys);
  visit(ByName("games"), cat.games);
  visit(Inside("vet"), cat.vet);
  visit(WithParts(kVisitParts, "visit"), cat.visit);
  visit.Derived("lives_left", int64_t{cat.lives} - 1);
}

Cat FullCat() {
  return {.name = "Tom",
          .lives = 7,
          .tag = 0xffffffffffffffffu,
          .indoor = true,
          .mass_kg = 4.5,
          .length_m = 0.5,
          .mood = Mood::kHungry,
          .chip = Chip{3},
          .naps = {{1.0, 2.0}, {3.0, 4.5}},
          .toys = {{"mouse", 2}},
          .games = {{"chase", 3}, {"hide", 1}},
          .vet = Vet{"Ann", 40},
          .visit = Visit{4.5, 4.0, {{"Bob", 30}, {"Eve", 20}}}};
}

absl::StatusOr<Cat> ReadCat(const json& from, UnknownKeys unknown = UnknownKeys::kRefuse) {
  Cat cat;
  absl::Status status = ReadJson("cat", from, unknown, cat);
  if (!status.ok()) return status;
  return cat;
}

std::string ProblemWith(const char* pointer, const json& value) {
  json changed = WriteJson(FullCat());
  changed[json::json_pointer(pointer)] = value;
  return std::string(ReadCat(changed).status().message());
}

TEST(JsonCodec, EveryFieldComesBack) {
  EXPECT_EQ(ReadCat(json::parse(WriteJson(FullCat()).dump())).value(), FullCat());
}

TEST(JsonCodec, TheFormIsTheOneThatTheFieldsSay) {
  EXPECT_EQ(
      WriteOrderedJson(FullCat()).dump(),
      R"({"name":"Tom","lives":7,"tag":18446744073709551615,"indoor":true,"mass_kg":4.5,)"
      R"("length_m":0.5,"mood":"hungry","chip":"x3","naps":[[1.0,2.0],[3.0,4.5]],)"
      R"("toys":{"mouse":2},"games":{"chase":{"played":3},"hide":{"played":1}},"vet_name":"Ann","fee":40,)"
      R"("visit":{"seen":{"weighed_kg":4.5,"vets":[{"vet_name":"Bob"},{"vet_name":"Eve"}]},)"
      R"("guessed":{"expected_kg":4.0,"vets":[{"vet_name":"Bob","fee":30},)"
      R"({"vet_name":"Eve","fee":20}]}},"lives_left":6})");
}

TEST(JsonCodec, WhatIsNotThereIsLeftOutOrNull) {
  const json written = WriteJson(Cat());
  EXPECT_TRUE(written["length_m"].is_null());
  for (const char* key : {"mass_kg", "chip", "vet_name", "fee", "visit"}) {
    EXPECT_FALSE(written.contains(key)) << key;
  }
  EXPECT_EQ(ReadCat(written).value(), Cat());
}

TEST(JsonCodec, AnAbsentFieldOrNullKeepsWhatIsThere) {
  Cat cat = FullCat();
  ASSERT_TRUE(
      ReadJson("cat", json{{"name", "Kit"}, {"lives", nullptr}}, UnknownKeys::kRefuse, cat).ok());
  Cat expected = FullCat();
  expected.name = "Kit";
  EXPECT_EQ(cat, expected);
}

TEST(JsonCodec, AProblemNamesThePathAndWhatWouldBeAccepted) {
  EXPECT_EQ(ProblemWith("/lives", "nine"), "lives = \"nine\": must be a whole number");
  EXPECT_EQ(ProblemWith("/lives", int64_t{1} << 40),
            "lives = 1099511627776: must fit into 32 bits");
  EXPECT_EQ(ProblemWith("/indoor", 1), "indoor = 1: must be true or false");
  EXPECT_EQ(ProblemWith("/mood", "sad"), "mood = sad: must be one of calm, hungry");
  EXPECT_EQ(ProblemWith("/chip", "y"), "chip = y: must be x and a digit");
  EXPECT_EQ(ProblemWith("/naps/1/0", "noon"), "naps[1][0] = \"noon\": must be a number");
  EXPECT_EQ(ProblemWith("/naps/1", json::array({1.0})),
            "naps[1][1] = (absent): this key is needed");
  EXPECT_EQ(ProblemWith("/toys/mouse", 0.5), "toys.mouse = 0.5: must be a whole number");
  EXPECT_EQ(ProblemWith("/games/hide/played", 0.5),
            "games.hide.played = 0.5: must be a whole number");
  EXPECT_EQ(ProblemWith("/toys", 3), "toys = 3: must be an object");
  EXPECT_EQ(ProblemWith("/fee", nullptr), "fee = (absent): this key is needed");
  EXPECT_EQ(ProblemWith("/visit/guessed/vets/0/fee", "much"),
            "visit.guessed.vets[0].fee = \"much\": must be a whole number");
  EXPECT_EQ(ProblemWith("/visit/guessed/vets/1", nullptr),
            "visit.guessed.vets[1] = null: must be an object");
  EXPECT_EQ(ReadCat(json::array()).status().message(), "cat = an array: must be an object");
  Cat cat;
  EXPECT_EQ(FieldOf(ReadJson("cat", json::object(), UnknownKeys::kRefuse, cat, "house.")),
            "house.name");
}

TEST(JsonCodec, PartsOfATextHaveTheSameEntries) {
  json written = WriteJson(FullCat());
  written["visit"]["guessed"]["vets"].erase(1);
  EXPECT_EQ(ReadCat(written).status().message(), "visit.guessed.vets = (1 entries): must have 2");
  written["visit"].erase("guessed");
  EXPECT_EQ(ReadCat(written).status().message(), "visit.guessed = (absent): this key is needed");
}

TEST(JsonCodec, KeysThatNoFieldHasAreRefusedOrPassedOver) {
  json written = WriteJson(FullCat());
  written["liwes"] = 3;
  EXPECT_THAT(std::string(ReadCat(written).status().message()),
              HasSubstr("liwes = 3: key 'liwes'"));
  EXPECT_EQ(ReadCat(written, UnknownKeys::kPassOver).value(), FullCat());
  written.erase("liwes");
  written["visit"]["seen"]["color"] = "red";
  EXPECT_THAT(std::string(ReadCat(written).status().message()),
              HasSubstr("visit.seen.color = \"red\""));
}

TEST(JsonCodec, TextIsWrittenAsUtf8) {
  Cat cat;
  cat.name = "T\xFFom";
  EXPECT_EQ(WriteJson(cat)["name"], "T\xEF\xBF\xBDom");
}

TEST(JsonCodec, ANumberThatIsNotFiniteArrivesAsAbsent) {
  Cat cat;
  cat.mass_kg = std::numeric_limits<double>::infinity();
  EXPECT_EQ(ReadCat(json::parse(WriteJson(cat).dump()))->mass_kg, std::nullopt);
}

// A struct whose keys have an order of their own, and a set.
struct Kennel {
  EnumSet<Mood> moods;
  OrderedMap<int32_t> bowls;
};

template <ConstOr<Kennel> K, typename Visitor>
void VisitFields(K& kennel, Visitor& visit) {
  visit(OnlyIf(!kennel.moods.empty(), "moods"), kennel.moods, kMoodNames);
  visit("bowls", kennel.bowls);
}

TEST(JsonCodec, SetsAreListsOfNamesAndOrderedMapsKeepTheirOrder) {
  const Kennel kennel{.moods = {Mood::kHungry, Mood::kCalm}, .bowls = {{"z", 1}, {"a", 2}}};
  const std::string text = WriteOrderedJson(kennel).dump();
  EXPECT_EQ(text, R"({"moods":["calm","hungry"],"bowls":{"z":1,"a":2}})");
  Kennel read{.moods = {}, .bowls = {{"old", 3}}};
  ASSERT_TRUE(ReadJson("kennel", json::parse(text), UnknownKeys::kRefuse, read).ok());
  EXPECT_EQ(read.moods, kennel.moods);
  EXPECT_EQ(read.bowls, (OrderedMap<int32_t>{{"a", 2}, {"z", 1}}));
  EXPECT_EQ(WriteOrderedJson(Kennel()).dump(), R"({"bowls":{}})");
}

TEST(JsonCodec, NamesTheEntryOfASetThatIsNoneOfItsNames) {
  Kennel read;
  const auto problem = [&](const char* text) {
    return std::string(ReadJson("kennel", json::parse(text), UnknownKeys::kRefuse, read).message());
  };
  EXPECT_THAT(problem(R"({"moods": ["calm", "cross"]})"),
              HasSubstr("moods[1] = cross: must be one of calm, hungry"));
  EXPECT_THAT(problem(R"({"moods": ["calm", 1]})"), HasSubstr("moods[1] = 1: must be a text"));
  EXPECT_THAT(problem(R"({"moods": "calm"})"), HasSubstr("moods = \"calm\": must be a list"));
}

}  // namespace
}  // namespace meshwright::planner
