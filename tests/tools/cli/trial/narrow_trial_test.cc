// meshwright trial --dtype fp8-blockwise with real worker processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/tools/command_runner.h"
#include "tests/tools/json_schema.h"

namespace meshwright::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string WorkerDir() {
  const char* dir = std::getenv("MESHWRIGHT_BIN_DIR");
  return dir == nullptr ? "." : dir;
}

std::vector<std::string> OnTwoRanks(const std::string& seq_len, const std::string& steps) {
  return {"--seq-len", seq_len, "--global-batch", "4", "--devices", "cpu:2", "--steps", steps};
}

// Widths of whole tiles on two ranks.
class NarrowTrialTest : public testing::Test {
 protected:
  NarrowTrialTest() {
    std::ofstream(model_) << json{
        {"model_type", "llama"},    {"hidden_size", 128},       {"num_hidden_layers", 2},
        {"intermediate_size", 512}, {"num_attention_heads", 4}, {"num_key_value_heads", 4},
        {"head_dim", 64},           {"vocab_size", 128},        {"hidden_act", "silu"}};
  }
  ~NarrowTrialTest() override { std::filesystem::remove(model_); }

  CommandOutput Run(const std::string& dtype, const std::string& layout,
                    const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"trial",   "--model", model_,     "--layout", layout,
                                          "--dtype", dtype,     "--format", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunCommand(arguments, WorkerDir());
  }
  json RunJson(const std::string& dtype, const std::string& layout,
               const std::vector<std::string>& more) const {
    const CommandOutput run = Run(dtype, layout, more);
    EXPECT_EQ(run.exit_code, 0) << run.err << run.out;
    return json::parse(run.out);
  }

  const std::string model_ =
      (std::filesystem::temp_directory_path() / ("narrow_" + std::to_string(getpid()) + ".json"))
          .string();
};

TEST_F(NarrowTrialTest, LearnsAsBf16DoesAndHoldsWhatWasEstimated) {
  const std::vector<std::string> steps = OnTwoRanks("256", "4");
  const json wide = RunJson("bf16", "tp2.pp1.dp1.mb2.sp1", steps);
  for (const char* layout : {"tp2.pp1.dp1.mb2.sp1", "tp1.pp1.dp2.mb2.zero3"}) {
    const json narrow = RunJson("fp8-blockwise", layout, steps);
    EXPECT_EQ(SchemaProblems("trial", narrow), "");
    for (size_t step = 0; step < 4; ++step) {
      EXPECT_NEAR(narrow["losses"][step].get<double>(), wide["losses"][step].get<double>(), 0.02)
          << layout << " step " << step;
    }
    for (const json& rank : narrow["ranks"]) {
      EXPECT_EQ(rank["peak_bytes"], rank["estimated_bytes"]) << layout;
    }
  }
}

TEST_F(NarrowTrialTest, RunsSlices) {
  const json trial = RunJson("fp8-blockwise", "tp2.pp2.dp8.mb1.zero1.sp1",
                             {"--slice", "--cluster", "h100", "--seq-len", "256", "--global-batch",
                              "32", "--devices", "cpu:1", "--steps", "2"});
  EXPECT_EQ(SchemaProblems("trial", trial), "");
  ASSERT_EQ(trial["ranks"].size(), 2u);
  for (const json& rank : trial["ranks"]) {
    EXPECT_EQ(rank["peak_bytes"], rank["estimated_bytes"]) << rank.dump();
  }
}

TEST_F(NarrowTrialTest, RefusesOtherRecipesAndCutTiles) {
  const CommandOutput recipe = Run("fp8-current", "tp2.pp1.dp1", OnTwoRanks("256", "1"));
  EXPECT_NE(recipe.exit_code, 0);
  EXPECT_THAT(recipe.err + recipe.out,
              HasSubstr("can't run fp8-current; it runs bf16, fp32, fp64, fp8-blockwise"));
  const CommandOutput cut = Run("fp8-blockwise", "tp2.pp1.dp1", OnTwoRanks("192", "1"));
  EXPECT_NE(cut.exit_code, 0);
  EXPECT_THAT(cut.err + cut.out,
              HasSubstr("sequences of 192 tokens don't split into whole fp8 scaling tiles"));
}

}  // namespace
}  // namespace meshwright::cli
