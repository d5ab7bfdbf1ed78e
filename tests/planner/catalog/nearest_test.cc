#include "base/text/nearest.h"

#include "gmock/gmock.h"
#include "planner/catalog/spec_kind.h"

namespace meshwright::planner {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Nearest, PrefersNamesThatBeginWithIt) {
  EXPECT_THAT(NearestNames("a100", {"h100", "b200", "a100-40", "a100-80"}),
              ElementsAre("a100-40", "a100-80"));
  EXPECT_THAT(NearestNames("A100", {"h100", "a100-80"}), ElementsAre("a100-80"));
}

TEST(Nearest, KnowsTheShortFormOfALongName) {
  EXPECT_THAT(NearestNames("sequence-length", {"server", "seq-len", "steps"}),
              ElementsAre("seq-len"));
  EXPECT_THAT(NearestNames("global-batch-size", {"global-batch", "gpus"}),
              ElementsAre("global-batch"));
  EXPECT_THAT(NearestNames("global_batch", {"gpus", "global-batch"}), ElementsAre("global-batch"));
}

TEST(Nearest, PrefersNamesThatShareAWord) {
  EXPECT_THAT(NearestNames("num-gpus", {"top", "format", "gpus"}).front(), "gpus");
}

TEST(Nearest, GoesByFamilyFirst) {
  const std::vector<std::string> known = {"gemma-2-2b", "gemma-3-12b", "gemma-3-4b",
                                          "llama-2-7b", "qwen2.5-7b",  "qwen3-8b"};
  EXPECT_THAT(NearestNames("gemma-3-27b", known),
              ElementsAre("gemma-3-12b", "gemma-3-4b", "gemma-2-2b"));
  EXPECT_THAT(NearestNames("Gemma4_E2B", known),
              testing::UnorderedElementsAre("gemma-2-2b", "gemma-3-4b", "gemma-3-12b"));
  // The digits of a family say its generation.
  EXPECT_THAT(NearestNames("qwen3.5-9b", known), ElementsAre("qwen3-8b", "qwen2.5-7b"));
  EXPECT_THAT(NearestNames("deepseek-v9", PresetsOf("model")).front(),
              testing::StartsWith("deepseek-"));
  // Nor is it a family where a name has no more than letters, or next to none.
  EXPECT_THAT(NearestNames("h300", {"h200", "b300"}), testing::SizeIs(2));
}

TEST(Nearest, LeavesOutWhatIsFarFromTheNearest) {
  EXPECT_THAT(NearestNames("recomend", {"benchmark", "recommend", "serve"}),
              ElementsAre("recommend"));
  EXPECT_THAT(NearestNames("anything", {}), IsEmpty());
}

TEST(SpecKind, KnowsAFileByItsKeys) {
  EXPECT_EQ(KindOfText(R"({"hidden_size": 8})"), "model");
  EXPECT_EQ(KindOfText(R"({"devices_per_node": 8})"), "cluster");
  EXPECT_EQ(KindOfText(R"({"gradient_bytes": 8})"), "framework");
  EXPECT_EQ(KindOfText(R"({"name": "x"})"), "");
  EXPECT_EQ(KindOfText("broken"), "");
}

TEST(SpecKind, KnowsEveryPreset) {
  for (const char* kind : {"model", "cluster"}) {
    for (const std::string& name : PresetsOf(kind)) EXPECT_EQ(KindOfPreset(name), kind) << name;
  }
}

}  // namespace
}  // namespace meshwright::planner
