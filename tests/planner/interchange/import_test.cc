#include "planner/interchange/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/planner/interchange/imports.h"

namespace meshwright::planner {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

TEST(Import, RejectsNamesThatItDoesNotKnow) {
  const Imported imported =
      From("megatron", MegatronLine("--brand-new-kernel --hidden-dropout 0.1"));
  EXPECT_THAT(Rejected(imported), UnorderedElementsAre("--brand-new-kernel", "--hidden-dropout"));
  EXPECT_FALSE(imported.complete());
}

TEST(Import, TheLastValueOfANameCounts) {
  const Imported imported = From("megatron", MegatronLine("--tensor-model-parallel-size 2 "
                                                          "--tensor-model-parallel-size 4"));
  EXPECT_THAT(LayoutOf(imported), HasSubstr("tp4.cp1.pp1.dp4"));
  EXPECT_THAT(HintOf(imported, "--tensor-model-parallel-size"), "a later value replaces it");
}

TEST(Import, RejectsWhatContradicts) {
  const Imported imported = From("megatron", MegatronLine("--fp16"));
  EXPECT_THAT(HintOf(imported, "--fp16"), "contradicts --bf16");
}

TEST(Import, AsksForVariablesAndTakesThem) {
  const std::string script = MegatronLine("--tensor-model-parallel-size $TP --data-path $DATA");
  const Imported asks = From("megatron", script);
  EXPECT_THAT(HintOf(asks, "--tensor-model-parallel-size"), HasSubstr("--env TP=VALUE gives it"));
  EXPECT_THAT(Rejected(asks), ElementsAre("--tensor-model-parallel-size"));
  EXPECT_THAT(LayoutOf(From("megatron", script, {.environment = {{"TP", "2"}}})),
              HasSubstr("tp2."));
}

TEST(Import, ChecksTheBatch) {
  const Imported imported = From("megatron", MegatronLine("--micro-batch-size 3"));
  EXPECT_THAT(HintOf(imported, "--global-batch-size"), HasSubstr("must be a multiple of 3 * 16"));
}

}  // namespace
}  // namespace meshwright::planner
