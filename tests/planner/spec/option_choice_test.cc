#include "planner/spec/option_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/field_error.h"
#include "planner/spec/run_option_table.h"
#include "tests/planner/changed_options.h"

namespace meshwright::planner {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<SearchedOption> ParsedOptions(const std::vector<std::string>& texts) {
  return ParseSearchedOptions("search", texts).value();
}

std::vector<std::string> ValuesOf(const char* text) { return ParsedOptions({text}).front().values; }

absl::Status RefusedSearch(const std::vector<std::string>& texts) {
  return ParseSearchedOptions("search", texts).status();
}

TEST(OptionNames, AreThoseOfTheTableAndTheOptimizer) {
  ASSERT_EQ(OptionNames().size(), kRunOptions.size() + 1);
  for (size_t i = 0; i < kRunOptions.size(); ++i) EXPECT_EQ(OptionNames()[i], kRunOptions[i].name);
  EXPECT_EQ(OptionNames().back(), "optimizer");
  for (const std::string_view name : OptionNames()) EXPECT_NE(OptionTakes(name), "") << name;
}

// Tests elsewhere change each option in turn.
TEST(OptionNames, EachHasAChangeInTests) {
  for (size_t i = 0; i < OptionNames().size(); ++i) {
    ASSERT_LT(i, kChangedOptions.size());
    EXPECT_EQ(kChangedOptions[i].name, OptionNames()[i]);
  }
}

TEST(ChangedOptions, AreThoseWithoutTheirDefault) {
  EXPECT_TRUE(ChangedOptions(TrainingSpec()).empty());
  for (const ChangedOption& option : kChangedOptions) {
    const TrainingSpec training = WithOption({}, option);
    EXPECT_THAT(ChangedOptions(training), ElementsAre(testing::Pair(option.name, option.value)));
    EXPECT_NE(DefaultOptionText(option.name), option.value);
  }
}

TEST(SearchedOptions, CommasDivideValuesAndPlusesTheirParts) {
  EXPECT_THAT(ValuesOf("loss=plain,chunked:8"), ElementsAre("plain", "chunked:8"));
  EXPECT_THAT(ValuesOf("states=bf16,master=none+grad=fp16+m=fp8+v=int8"),
              ElementsAre("bf16", "master=none,grad=fp16,m=fp8,v=int8"));
  EXPECT_THAT(ValuesOf("optimizer=muon, adamw"), ElementsAre("muon", "adamw"));
}

TEST(SearchedOptions, AValueIsThereOnceHoweverItIsSpelled) {
  EXPECT_THAT(ValuesOf("states=adam8bit,master=none+grad=bf16+m=int8+v=int8"),
              ElementsAre("adam8bit"));
}

TEST(SearchedOptions, HaveTheValuesOfTheTableWhereNoneAreListed) {
  EXPECT_THAT(ValuesOf("loss"), Contains("plain"));
  EXPECT_FALSE(ParsedOptions({"loss"}).front().is_listed);
  EXPECT_TRUE(ParsedOptions({"loss=plain"}).front().is_listed);
  for (const std::string_view name : SearchableOptions()) {
    // The framework's own choice is one of the others.
    if (OptionText(name, TrainingSpec()) == "default" && name != "states") continue;
    EXPECT_THAT(ParsedOptions({std::string(name)}).front().values,
                Contains(OptionText(name, TrainingSpec())))
        << name << " has its default among what is searched";
  }
}

TEST(SearchedOptions, AreInTheOrderOfTheTable) {
  const std::vector<SearchedOption> options = ParsedOptions({"optimizer", "loss", "states"});
  ASSERT_EQ(options.size(), 3u);
  EXPECT_EQ(options[0].name, "states");
  EXPECT_EQ(options[1].name, "loss");
  EXPECT_EQ(options[2].name, "optimizer");
}

TEST(SearchedOptions, OthersAreRefused) {
  EXPECT_EQ(FieldOf(RefusedSearch({"documents=2048"})), "search");
  EXPECT_EQ(FieldOf(RefusedSearch({""})), "search");
  EXPECT_THAT(RefusedSearch({"tp=1,2"}).message(), HasSubstr("states, loss"));
  EXPECT_THAT(RefusedSearch({"loss=plain", "loss=chunked:8"}).message(), HasSubstr("second list"));
  EXPECT_EQ(FieldOf(RefusedSearch({"loss="})), "loss");
  EXPECT_EQ(FieldOf(RefusedSearch({"loss=plain,chunked"})), "loss");
  EXPECT_EQ(FieldOf(RefusedSearch({"optimizer=adam"})), "optimizer");
}

TEST(OptionChoices, AreAllCombinations) {
  const TrainingSpec own = {.options = {.loss_chunks = 8, .document_tokens = 100}};
  const auto choices = CombineOptions(
      "search", ParsedOptions({"loss=plain,chunked:8", "optimizer=adamw,lion"}), own);
  ASSERT_EQ(choices->size(), 4u);
  EXPECT_EQ(OptionWords((*choices)[0].values), "loss=plain optimizer=adamw");
  EXPECT_EQ(OptionWords((*choices)[3].values), "loss=chunked:8 optimizer=lion");
  EXPECT_EQ((*choices)[0].changed, 1);
  EXPECT_EQ((*choices)[1].changed, 2);
  EXPECT_EQ((*choices)[2].changed, 0);
  const TrainingSpec with = WithChoice(own, (*choices)[1]);
  EXPECT_EQ(with.options.loss_chunks, 1);
  EXPECT_EQ(with.options.document_tokens, 100);
  EXPECT_EQ(with.optimizer, kLion);
}

TEST(OptionChoices, ThereAreNoneWithoutOptions) {
  EXPECT_TRUE(CombineOptions("search", {}, TrainingSpec())->empty());
}

TEST(OptionChoices, TooManyAreRefusedWithTheirNumbers) {
  std::string losses = "loss=plain";
  for (int chunks = 2; chunks <= 33; ++chunks) losses += ",chunked:" + std::to_string(chunks);
  EXPECT_TRUE(CombineOptions("search", ParsedOptions({losses}), TrainingSpec()).ok());
  const absl::Status status =
      CombineOptions("search", ParsedOptions({losses, "optimizer=adamw,lion"}), TrainingSpec())
          .status();
  EXPECT_EQ(FieldOf(status), "search");
  EXPECT_THAT(status.message(), HasSubstr("33 of loss, 2 of optimizer"));
  EXPECT_THAT(status.message(), HasSubstr("at most 64"));
}

TEST(OptionChoices, SortAsTheTableHasThem) {
  OptionValues values = {{"optimizer", "lion"}, {"loss", "plain"}, {"states", "bf16"}};
  SortOptions(values);
  EXPECT_EQ(OptionWords(values), "states=bf16 loss=plain optimizer=lion");
}

TEST(RunOptionTable, SearchesNoDocumentsWhichAreTheDatas) {
  EXPECT_THAT(SearchableOptions(), Not(Contains("documents")));
}

}  // namespace
}  // namespace meshwright::planner
