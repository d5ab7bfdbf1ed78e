#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nlohmann/json.hpp"
#include "tests/tools/command_runner.h"

namespace meshwright::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> Ask(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"recommend", "--model",        "llama-2-13b", "--cluster",
                                        "h100",      "--gpus",         "64",          "--seq-len",
                                        "4096",      "--global-batch", "128"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

json Answer(std::vector<std::string> more) {
  more.insert(more.end(), {"--format", "json"});
  const CommandOutput run = RunCommand(Ask(more));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return json::parse(run.out);
}

std::string Text(const std::vector<std::string>& more) {
  const CommandOutput run = RunCommand(Ask(more));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return run.out;
}

TEST(ObjectiveCommand, SaysWhatRanks) {
  EXPECT_THAT(Text({"--details"}), HasSubstr("Ranked by predicted MFU (PaLM"));
  EXPECT_THAT(Text({"--objective", "cost"}), HasSubstr("Ranked by predicted MFU:"));
  const std::string energy = Text({"--objective", "energy"});
  EXPECT_THAT(energy, HasSubstr("Ranked by predicted tokens a joule"));
  EXPECT_THAT(energy, HasSubstr("tokens/J"));
  const std::string memory = Text({"--objective", "memory"});
  EXPECT_THAT(memory, HasSubstr("Ranked by predicted memory"));
  EXPECT_THAT(memory, Not(HasSubstr("as far as the estimate can tell")));
}

TEST(ObjectiveCommand, PrintsAFront) {
  const json answer = Answer({"--pareto", "mfu,memory"});
  ASSERT_GT(answer["front"].size(), 3u);
  EXPECT_EQ(answer["front"].front(), answer["layouts"].front());
  for (size_t i = 1; i < answer["front"].size(); ++i) {
    const json& before = answer["front"][i - 1];
    const json& one = answer["front"][i];
    EXPECT_GT(before["mfu"], one["mfu"]);
    EXPECT_GT(before["memory"]["total_bytes"], one["memory"]["total_bytes"]);
  }
  EXPECT_EQ(answer["request"]["pareto"], "mfu,memory");
  const std::string text = Text({"--pareto", "mfu,memory", "--top", "3", "--long"});
  EXPECT_THAT(text, HasSubstr("in all of mfu,memory; 3 that divide them evenly"));
  EXPECT_THAT(text, HasSubstr(answer["front"].back()["layout"].get<std::string>()));
}

// The condition of a group is one that --where takes, and its best layout the search's own.
TEST(ObjectiveCommand, PrintsTheBestOfEachGroup) {
  const json answer = Answer({"--best-per", "tp,sched"});
  ASSERT_GT(answer["groups"].size(), 2u);
  int64_t fit = 0;
  for (const json& group : answer["groups"]) fit += group["fit"].get<int64_t>();
  EXPECT_EQ(fit, answer["funnel"]["evaluated"]);
  const json& group = answer["groups"][1];
  const json alone = Answer({"--where", group["group"], "--top", "1"});
  EXPECT_EQ(alone["layouts"][0], group["estimate"]);
  EXPECT_EQ(alone["funnel"]["evaluated"], group["fit"]);
  EXPECT_THAT(Text({"--best-per", "tp,sched"}), HasSubstr(group["group"].get<std::string>()));
}

TEST(OptionSearchCommand, RowsNameTheirOptionsAndEstimateSaysTheSame) {
  const json answer =
      Answer({"--search", "loss=plain,chunked:8", "--search", "states=default,bf16", "--best-per",
              "loss,states", "--mine", "tp2.pp1.dp32.mb1.zero1.sp1 loss=chunked:4"});
  EXPECT_EQ(answer["request"]["search"], json({"loss=plain,chunked:8", "states=default,bf16"}));
  EXPECT_EQ(answer["groups"].size(), 4u);
  EXPECT_EQ(answer["groups"][0]["estimate"], answer["layouts"][0]);
  EXPECT_EQ(answer["mine"]["layout"],
            "tp2.cp1.pp1.dp32.mb1.vpp1.zero1.sp1.rc=none.sched=1f1b loss=chunked:4");
  const json& best = answer["layouts"][0];
  const std::string layout = best["layout"];
  const std::string loss = best["options"]["loss"];
  const std::string states = best["options"]["states"];
  std::vector<std::string> arguments =
      Ask({"--layout", layout, "--loss", loss, "--states", states, "--format", "json"});
  arguments[0] = "estimate";
  const json alone = json::parse(RunCommand(arguments).out);
  EXPECT_EQ(alone["time"], best["time"]);
  EXPECT_EQ(alone["memory"], best["memory"]);
  EXPECT_FALSE(alone.contains("options"));
  EXPECT_THAT(
      Text({"--search", "loss=plain,chunked:8", "--search", "states=default,bf16", "--long"}),
      HasSubstr(layout + " states=" + states + " loss=" + loss));
}

TEST(OptionSearchCommand, SizesHaveTheBestOptionsOfEach) {
  std::vector<std::string> arguments = Ask({"--search", "states=default,bf16", "--format", "json"});
  arguments[6] = "8..16";
  const json answer = json::parse(RunCommand(arguments).out);
  EXPECT_EQ(answer["points"][0]["estimate"]["options"]["states"], "bf16");
}

TEST(OptionSearchCommand, RefusesByName) {
  const CommandOutput run = RunCommand(Ask({"--search", "documents=none,2048"}));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("--search documents=none,2048: must be an option"));
  EXPECT_THAT(RunCommand(Ask({"--best-per", "loss"})).err, HasSubstr("without --search loss"));
}

TEST(ObjectiveCommand, NamesTheBestSize) {
  std::vector<std::string> arguments = Ask({"--objective", "cost"});
  arguments[6] = "16..64";
  EXPECT_THAT(RunCommand(arguments).out, HasSubstr("Best by cost: "));
  arguments = Ask({"--pareto", "mfu,memory"});
  arguments[6] = "16..64";
  const CommandOutput refused = RunCommand(arguments);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--pareto mfu,memory: applies to one number of devices"));
}

// A run's time is that of its fastest layouts, and so is a layout's standing.
TEST(ObjectiveCommand, RefusesWhatIsAboutSpeed) {
  std::vector<std::string> arguments = Ask({"--objective", "memory", "--tokens", "1T"});
  arguments[6] = "16..64";
  EXPECT_THAT(RunCommand(arguments).err, HasSubstr("--objective memory: does not go with tokens"));
  EXPECT_THAT(RunCommand(Ask({"--objective", "memory", "--mine", "tp8.pp1.dp8.mb1.zero1.sp1"})).err,
              HasSubstr("layouts that are ranked by speed"));
}

TEST(ObjectiveCommand, NeedsPowerForEnergy) {
  std::vector<std::string> arguments = Ask({"--objective", "energy"});
  arguments[4] = "local-cpu";
  const CommandOutput run = RunCommand(arguments);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("needs the power that a device draws"));
}

}  // namespace
}  // namespace meshwright::cli
