// --measured, as the commands that plan take it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "base/text/json_text.h"
#include "tests/tools/command_runner.h"

namespace meshwright::cli {
namespace {

using testing::HasSubstr;

constexpr const char* kLayout = "tp2.pp1.dp32.mb1.zero1.sp1";

std::vector<std::string> Question(std::string command, const std::vector<std::string>& more) {
  std::vector<std::string> words = {
      std::move(command), "--model", "llama-3-8b",     "--cluster", "h100", "--gpus", "64",
      "--seq-len",        "8192",    "--global-batch", "256"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

nlohmann::json Json(std::vector<std::string> words) {
  words.insert(words.end(), {"--format", "json"});
  const CommandOutput output = RunCommand(words);
  EXPECT_EQ(output.exit_code, 0) << output.err;
  return ParseJson("output", output.out).value();
}

std::string WriteFile(const char* name, const std::string& text) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

TEST(MeasuredFlag, EveryAnswerHasTheRunBesideItsEstimates) {
  const std::string run = std::string(kLayout) + " step=4.5s memory=40GiB";
  for (const auto& words : {Question("recommend", {}), Question("estimate", {"--layout", kLayout}),
                            Question("compare", {kLayout, "tp1.pp1.dp64.mb1.zero1"}),
                            Question("fit", {}), Question("scale", {})}) {
    std::vector<std::string> with = words;
    with.insert(with.end(), {"--measured", run});
    const nlohmann::json answer = Json(with);
    ASSERT_TRUE(answer.contains("measured")) << words.front();
    const nlohmann::json& measured = answer["measured"][0];
    EXPECT_EQ(measured["measured_step_s"], 4.5);
    EXPECT_EQ(measured["measured_peak_bytes"], 40LL << 30);
    EXPECT_LT(measured["step_before_s"], 4.3);
    EXPECT_NEAR(measured["step_s"].get<double>(), 4.5, 0.15);
    EXPECT_EQ(answer["request"]["measured"][0], run);
    EXPECT_THAT(answer["rests_on"]["sentence"].get<std::string>(),
                HasSubstr("corrected by 1 run of yours"));
    EXPECT_FALSE(Json(words).contains("measured"));
  }
}

TEST(MeasuredFlag, EstimatesHaveTheirValuesBefore) {
  const nlohmann::json before = Json(Question("estimate", {"--layout", kLayout}));
  EXPECT_FALSE(before.contains("step_before_s"));
  const nlohmann::json after =
      Json(Question("estimate", {"--layout", kLayout, "--measured",
                                 std::string(kLayout) + " step=4.5s memory=60GiB"}));
  EXPECT_EQ(after["step_before_s"], before["time"]["step_s"]);
  EXPECT_EQ(after["peak_before_bytes"], before["memory"]["total_bytes"]);
  EXPECT_GT(after["memory"]["correction_bytes"], 0);
  EXPECT_LT(after["step_high_s"].get<double>() / after["step_low_s"].get<double>(),
            before["step_high_s"].get<double>() / before["step_low_s"].get<double>());
}

TEST(MeasuredFlag, AFileOfLinesIsThatOfItsRuns) {
  const std::string path = WriteFile(
      "runs.txt", std::string("# mine\n\n") + kLayout + " step=4.5s\ntp1.pp1.dp64.mb4 oom\n");
  const nlohmann::json answer = Json(Question("recommend", {"--measured", path}));
  ASSERT_EQ(answer["measured"].size(), 2U);
  EXPECT_EQ(answer["measured"][1]["out_of_memory"], true);
}

TEST(MeasuredFlag, AMeasurementFileGivesTheRowsOfTheQuestion) {
  const std::string path = WriteFile(
      "runs.csv",
      "model,gpu,seq,gbs,gpus,tp,pp,dp,mbs,outcome,step_time_s\n"
      "Llama 3 8B,H100,8192,256,64,2,1,32,1,ok,4.5\nLlama 3 8B,H100,8192,512,64,2,1,32,1,ok,9.5\n");
  const nlohmann::json answer = Json(Question("recommend", {"--measured", path}));
  ASSERT_EQ(answer["measured"].size(), 1U);
  EXPECT_EQ(answer["measured"][0]["measured_step_s"], 4.5);
}

TEST(MeasuredFlag, WhatCannotBeReadIsRefused) {
  for (const auto& [value, reason] : {std::pair("tp2.pp1.dp32", "has none of step, memory and oom"),
                                      std::pair("no-such-file.txt", "no-such-file"),
                                      std::pair("sweeps/a/trials/1", "needs --server")}) {
    const CommandOutput output = RunCommand(Question("recommend", {"--measured", value}));
    EXPECT_EQ(output.exit_code, 2) << value;
    EXPECT_THAT(output.err, HasSubstr("measured")) << value;
    EXPECT_THAT(output.err, HasSubstr(reason)) << value;
  }
}

TEST(MeasuredFlag, ADoubtfulRunIsNoted) {
  const CommandOutput output =
      RunCommand(Question("recommend", {"--measured", std::string(kLayout) + " step=12.3ms"}));
  EXPECT_THAT(output.out, HasSubstr("is it of this model, this batch"));
}

}  // namespace
}  // namespace meshwright::cli
