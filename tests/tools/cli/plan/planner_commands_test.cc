#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_replace.h"
#include "nlohmann/json.hpp"
#include "tests/tools/command_runner.h"
#include "tests/tools/golden.h"

namespace meshwright::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> Recommend(const std::string& model, const std::string& cluster,
                                   const std::string& gpus, const std::string& seq_len,
                                   const std::string& batch,
                                   const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"recommend", "--model",        model, "--cluster",
                                        cluster,     "--gpus",         gpus,  "--seq-len",
                                        seq_len,     "--global-batch", batch};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(RecommendText, MatchesTheGoldenFile) {
  const CommandOutput run = RunCommand(Recommend("llama-3-70b", "h100", "512", "4096", "1024"));
  EXPECT_EQ(run.exit_code, 0);
  ExpectGolden("recommend_llama3_70b_512_h100.txt", run.out);
}

TEST(RecommendText, NothingFitsMatchesTheGoldenFile) {
  const CommandOutput run = RunCommand(Recommend("llama-3-405b", "a100-40", "8", "4096", "8"));
  EXPECT_EQ(run.exit_code, 3);
  ExpectGolden("recommend_nothing_fits.txt", run.out);
}

TEST(RecommendText, SaysThatRanksShareCores) {
  const CommandOutput run = RunCommand(
      Recommend("tinystories-15m", "local-cpu", "4", "256", "8", {"--framework", "meshwright"}));
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.out, HasSubstr("4 ranks share 2 physical cores"));
}

TEST(RecommendJson, HasTheKeysOfTheContract) {
  const CommandOutput run = RunCommand(
      Recommend("llama-3-8b", "h100", "64", "8192", "256", {"--format", "json", "--top", "3"}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json answer = json::parse(run.out);
  const json& funnel = answer["funnel"];
  EXPECT_EQ(funnel["enumerated"].get<int64_t>(), funnel["invalid"].get<int64_t>() +
                                                     funnel["memory"].get<int64_t>() +
                                                     funnel["evaluated"].get<int64_t>());
  EXPECT_TRUE(answer["elapsed_s"].is_number());
  ASSERT_EQ(answer["layouts"].size(), 3u);
  for (const json& layout : answer["layouts"]) {
    for (const char* key :
         {"layout", "axes", "memory", "time", "mfu", "mfu_causal", "tokens_per_s"}) {
      EXPECT_TRUE(layout.contains(key)) << key;
    }
    EXPECT_TRUE(layout["memory"].contains("fraction_of_device"));
  }
}

TEST(RecommendJson, PartsAddUp) {
  const CommandOutput run =
      RunCommand(Recommend("llama-3-8b", "h100", "64", "8192", "256", {"--format", "json"}));
  const json answer = json::parse(run.out);
  for (const json& layout : answer["layouts"]) {
    int64_t bytes = 0;
    for (const auto& [key, value] : layout["memory"].items()) {
      if (key.ends_with("_bytes") && key != "total_bytes") bytes += value.get<int64_t>();
    }
    EXPECT_EQ(bytes, layout["memory"]["total_bytes"].get<int64_t>());
    double seconds = 0;
    for (const auto& [key, value] : layout["time"].items()) {
      if (key.ends_with("_s") && key != "step_s") seconds += value.get<double>();
    }
    EXPECT_NEAR(seconds, layout["time"]["step_s"].get<double>(), 1e-9);
  }
}

TEST(RecommendJson, NothingFitsNamesTheNearest) {
  const CommandOutput run =
      RunCommand(Recommend("llama-3-405b", "a100-40", "8", "4096", "8", {"--format", "json"}));
  EXPECT_EQ(run.exit_code, 3);
  const json answer = json::parse(run.out);
  EXPECT_TRUE(answer["layouts"].empty());
  EXPECT_GT(answer["nearest"]["over_bytes"].get<int64_t>(), 0);
}

TEST(EstimateJson, IsTheEntryThatRecommendPrints) {
  const CommandOutput ranked = RunCommand(
      Recommend("llama-3-8b", "h100", "64", "8192", "256", {"--format", "json", "--top", "1"}));
  const json first = json::parse(ranked.out)["layouts"][0];
  const CommandOutput run =
      RunCommand({"estimate", "--model", "llama-3-8b", "--cluster", "h100", "--gpus", "64",
                  "--seq-len", "8192", "--global-batch", "256", "--layout",
                  first["layout"].get<std::string>(), "--format", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json estimate = json::parse(run.out);
  for (const auto& [key, value] : first.items()) EXPECT_EQ(estimate[key], value) << key;
  // One layout once.
  EXPECT_FALSE(estimate.contains("layouts"));
  EXPECT_TRUE(estimate["fits"].get<bool>());
}

std::vector<std::string> EstimateOf(const char* layout, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {
      "estimate",  "--model", "llama-3-70b",    "--cluster", "h100",     "--gpus", "64",
      "--seq-len", "4096",    "--global-batch", "512",       "--layout", layout};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(EstimateText, OfALayoutThatFitsMatchesTheGoldenFile) {
  const CommandOutput run = RunCommand(EstimateOf("tp8.pp4.dp2.mb2.zero1.sp1"));
  EXPECT_EQ(run.exit_code, 0);
  ExpectGolden("estimate_fits.txt", run.out);
}

TEST(EstimateText, OfALayoutThatDoesNotFitMatchesTheGoldenFile) {
  const CommandOutput run = RunCommand(EstimateOf("tp4.pp4.dp4.mb2.zero1.sp1"));
  EXPECT_EQ(run.exit_code, 3);
  ExpectGolden("estimate_over.txt", run.out);
}

TEST(EstimateJson, ExplainsItself) {
  const CommandOutput run =
      RunCommand(EstimateOf("tp4.pp4.dp4.mb2.zero1.sp1", {"--format", "json"}));
  const json estimate = json::parse(run.out);
  EXPECT_FALSE(estimate["fits"].get<bool>());
  ASSERT_EQ(estimate["stages"].size(), 4u);
  EXPECT_EQ(estimate["stages"][0], estimate["memory"]);
  for (const char* key : {"oom_probability", "step_low_s", "step_high_s"}) {
    EXPECT_TRUE(estimate[key].is_number()) << key;
  }
  const json& binding = estimate["binding"];
  EXPECT_EQ(estimate["memory"][binding["memory_part"].get<std::string>() + "_bytes"],
            binding["memory_bytes"]);
  EXPECT_EQ(estimate["time"][binding["time_part"].get<std::string>() + "_s"], binding["time_s"]);
  // What it names fits when it is asked for.
  const json& change = estimate["smallest_change"];
  EXPECT_EQ(change["changes"].size(), 1u);
  const CommandOutput after =
      RunCommand(EstimateOf(change["layout"].get<std::string>().c_str(), {"--format", "json"}));
  const json fixed = json::parse(after.out);
  EXPECT_TRUE(fixed["fits"].get<bool>());
  EXPECT_EQ(fixed["memory"]["total_bytes"], change["total_bytes"]);
  EXPECT_EQ(fixed["time"]["step_s"], change["step_s"]);
  EXPECT_TRUE(fixed["smallest_change"].is_null());
}

TEST(ExitZero, LooksAtWhatDoesNotFit) {
  const char* over = "tp4.pp4.dp4.mb2.zero1.sp1";
  EXPECT_EQ(RunCommand(EstimateOf(over, {"--format", "json"})).exit_code, 3);
  const CommandOutput looked = RunCommand(EstimateOf(over, {"--exit-zero", "--format", "json"}));
  EXPECT_EQ(looked.exit_code, 0);
  EXPECT_FALSE(json::parse(looked.out)["fits"].get<bool>());
  EXPECT_EQ(
      RunCommand(Recommend("llama-3-405b", "a100-40", "8", "4096", "8", {"--exit-zero"})).exit_code,
      0);
}

TEST(FirstAnswers, CarryParametersAndRatesOfOneGpu) {
  const CommandOutput run =
      RunCommand(EstimateOf("tp8.pp4.dp2.mb2.zero1.sp1", {"--format", "json"}));
  const json estimate = json::parse(run.out);
  EXPECT_EQ(estimate["parameters"], 70'553'706'496);
  EXPECT_GT(estimate["parameters_per_gpu"].get<double>(), 70.5e9 / 32);
  EXPECT_LT(estimate["parameters_per_gpu"].get<double>(), 70.5e9 / 32 * 1.1);
  EXPECT_DOUBLE_EQ(estimate["tflops_per_gpu"].get<double>(), 989.0 * estimate["mfu"].get<double>());
  EXPECT_DOUBLE_EQ(estimate["tokens_per_s_per_gpu"].get<double>(),
                   estimate["tokens_per_s"].get<double>() / 64);
  EXPECT_THAT(RunCommand(EstimateOf("tp8.pp4.dp2.mb2.zero1.sp1")).out,
              HasSubstr("llama-3-70b (70.55 B parameters), sequence 4,096"));
}

TEST(RecommendText, SaysWhereMineRanks) {
  const CommandOutput run = RunCommand(Recommend("llama-3-70b", "h100", "64", "4096", "512",
                                                 {"--mine", "tp8.pp4.dp2.mb1.zero1.sp1"}));
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.out, HasSubstr("\nMine, tp8.pp4.dp2.zero1.sp1:\n  rank "));
  EXPECT_THAT(run.out, HasSubstr("because "));
}

// Megatron's and NeMo's recipes use the distributed optimizer.
TEST(RecommendText, TakesTheFrameworksZeroStageForMine) {
  const auto mine = [](const char* layout, const char* framework) {
    return RunCommand(Recommend("llama-3-70b", "h100", "64", "4096", "512",
                                {"--mine", layout, "--framework", framework}))
        .out;
  };
  const std::string assumed = mine("tp8.pp4.dp2.sp1", "megatron");
  EXPECT_THAT(assumed, HasSubstr("\nMine, tp8.pp4.dp2.zero1.sp1:\n"));
  EXPECT_THAT(assumed, HasSubstr("note: mine: zero1: the layout says no ZeRO stage"));
  EXPECT_THAT(mine("tp8.pp4.dp2.zero0.sp1", "megatron"), HasSubstr("\nMine, tp8.pp4.dp2.sp1:\n"));
  EXPECT_THAT(mine("tp8.pp8.dp1.sp1", "megatron"), Not(HasSubstr("note: mine")));
  EXPECT_THAT(mine("dp64", "hf-fsdp2"), HasSubstr("\nMine, dp64.zero3:\n"));
}

TEST(RecommendText, SaysWhichLayoutsTheirExportRefuses) {
  const std::vector<std::string> asked = {"--framework", "torchtitan"};
  const CommandOutput run =
      RunCommand(Recommend("mixtral-8x7b", "h100", "64", "4096", "64", asked));
  EXPECT_THAT(run.out,
              HasSubstr("note: export --to torchtitan refuses these layouts: num_local_experts"));
  EXPECT_THAT(RunCommand(Recommend("llama-3-8b", "h100", "64", "4096", "64", asked)).out,
              Not(HasSubstr("refuses")));
  // DeepSpeed has no key for context parallelism, so that its search has none.
  for (const char* framework : {"deepspeed", "llamafactory"}) {
    const CommandOutput ranked = RunCommand(Recommend("llama-3-8b", "h100", "16", "8192", "128",
                                                      {"--framework", framework, "--top", "100"}));
    EXPECT_THAT(ranked.out, Not(HasSubstr("cp2")));
    EXPECT_THAT(ranked.out, Not(HasSubstr("refuses")));
  }
}

TEST(EstimateText, SaysThatTheExportOfItsFrameworkRefusesTheLayout) {
  const CommandOutput run =
      RunCommand({"estimate", "--model", "llama-3-8b", "--cluster", "h100", "--gpus", "16",
                  "--seq-len", "8192", "--global-batch", "128", "--framework", "hf-fsdp2",
                  "--layout", "cp4.dp4.zero3.hs=4", "--exit-zero"});
  EXPECT_THAT(run.out, HasSubstr("export --to accelerate refuses this layout: hs: FSDP2 divides"));
}

// Full recompute is what an FSDP user tries first; the fastest change may be another axis.
TEST(EstimateText, NamesTheSmallestChangeOnTheSameMesh) {
  std::vector<std::string> arguments = {
      "estimate", "--model",   "llama-3-8b",    "--cluster",      "h100", "--gpus",
      "8",        "--seq-len", "8192",          "--global-batch", "128",  "--framework",
      "hf-fsdp2", "--layout",  "dp8.mb2.zero3", "--exit-zero"};
  const std::string text = absl::StrReplaceAll(RunCommand(arguments).out, {{"\n", " "}});
  EXPECT_THAT(text, HasSubstr("Smallest change that fits: cp 1 -> 4 (dp 8 -> 2). Then "
                              "cp4.dp2.mb2.zero3 needs "));
  EXPECT_THAT(text, HasSubstr("On the same mesh of ranks: rc none -> full."));
  EXPECT_THAT(text, HasSubstr("dp8.mb2.zero3.rc=full needs "));
  EXPECT_THAT(text, Not(HasSubstr("tp1.")));
  arguments.insert(arguments.end(), {"--format", "json"});
  const json answer = json::parse(RunCommand(arguments).out);
  EXPECT_EQ(answer["same_mesh_change"]["changes"], json({"rc none -> full"}));
  arguments.back() = "text";
  arguments.emplace_back("--long");
  EXPECT_THAT(RunCommand(arguments).out, HasSubstr("tp1.cp1.pp1.dp8.mb2.vpp1.zero3.sp0.rc=full"));
}

TEST(RecommendText, NamesThePresetThatNoRunMeasured) {
  EXPECT_THAT(
      RunCommand(Recommend("llama-3-8b", "h100", "8", "4096", "8", {"--framework", "hf-fsdp2"}))
          .out,
      testing::ContainsRegex(
          "The\\s+interval\\s+is\\s+wider:\\s+hf-fsdp2\\s+has\\s+no\\s+measured\\s+run"));
}

TEST(RecommendJson, SaysWhereMineRanks) {
  const auto mine = [](const char* layout) {
    const CommandOutput run =
        RunCommand(Recommend("llama-3-70b", "h100", "64", "4096", "512",
                             {"--mine", layout, "--format", "json", "--top", "1"}));
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return json::parse(run.out)["mine"];
  };
  const json ranked = mine("tp8.pp4.dp2.mb1.zero1.sp1");
  EXPECT_TRUE(ranked["fits"].get<bool>());
  EXPECT_GT(ranked["rank"], 1);
  EXPECT_EQ(ranked["because"][0]["part"], "tp");
  EXPECT_GT(mine("tp4.pp4.dp4.mb2.zero1.sp1")["over_bytes"], 0);
  EXPECT_EQ(mine("tp3.pp4.dp2")["rule"], "devices");
}

TEST(RecommendJson, SaysWhatItRestsOn) {
  const auto rests_on = [](const char* cluster) {
    return json::parse(RunCommand(Recommend("llama-3-8b", cluster, "8", "4096", "8",
                                            {"--format", "json", "--top", "1"}))
                           .out)["rests_on"];
  };
  EXPECT_EQ(rests_on("h100")["cluster"]["rows"], 70);
  EXPECT_EQ(rests_on("mi300x")["cluster"]["kind"], "data_sheet");
  EXPECT_GT(rests_on("mi300x")["step_time_sigma"], rests_on("gb200")["step_time_sigma"]);
}

TEST(RecommendJson, ListsWhatIsWorthATrial) {
  const CommandOutput run =
      RunCommand(Recommend("llama-3-70b", "h100", "64", "4096", "512", {"--format", "json"}));
  const json answer = json::parse(run.out);
  ASSERT_FALSE(answer["worth_a_trial"].empty());
  for (const json& layout : answer["worth_a_trial"]) {
    EXPECT_LT(layout["oom_probability"].get<double>(), 0.5);
    EXPECT_GT(layout["memory"]["total_bytes"].get<int64_t>(),
              answer["allowed_bytes"].get<int64_t>());
    EXPECT_LT(layout["time"]["step_s"].get<double>(),
              answer["layouts"][0]["time"]["step_s"].get<double>());
  }
}

TEST(RecommendJson, AnUnevenLoadOfExpertsTakesLonger) {
  const auto best_s = [](std::vector<std::string> flags) {
    flags.insert(flags.end(), {"--format", "json", "--top", "1"});
    const CommandOutput run =
        RunCommand(Recommend("qwen3-30b-a3b", "h100", "32", "4096", "256", flags));
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return json::parse(run.out);
  };
  const json balanced = best_s({});
  const json uneven = best_s({"--imbalance", "1.5"});
  EXPECT_EQ(balanced["request"]["imbalance"], 1.0);
  EXPECT_EQ(uneven["request"]["imbalance"], 1.5);
  EXPECT_GT(uneven["layouts"][0]["time"]["step_s"], balanced["layouts"][0]["time"]["step_s"]);
}

TEST(EstimateJson, OfMuonNeedsLessForStatesAndMoreForTheUpdate) {
  const auto estimate = [](const char* optimizer) {
    const CommandOutput run =
        RunCommand({"estimate", "--model", "llama-3-8b", "--cluster", "h100", "--gpus", "32",
                    "--seq-len", "4096", "--global-batch", "256", "--layout",
                    "tp2.pp1.dp16.mb1.zero1.sp1", "--optimizer", optimizer, "--format", "json"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return json::parse(run.out);
  };
  const json adamw = estimate("adamw");
  const json muon = estimate("muon");
  EXPECT_EQ(muon["request"]["optimizer"], "muon");
  EXPECT_LT(muon["memory"]["optimizer_bytes"], adamw["memory"]["optimizer_bytes"]);
  EXPECT_GT(muon["time"]["optimizer_s"], adamw["time"]["optimizer_s"]);
}

TEST(EstimateCommand, RefusesMuonByTheRuleOfTheFramework) {
  const CommandOutput run =
      RunCommand({"estimate", "--model", "llama-3-8b", "--cluster", "h100", "--gpus", "8",
                  "--framework", "llm-foundry-fsdp", "--seq-len", "4096", "--global-batch", "64",
                  "--layout", "tp1.pp1.dp8.mb1.zero3", "--optimizer", "muon"});
  EXPECT_NE(run.exit_code, 0);
  EXPECT_THAT(run.err, HasSubstr("Muon is not planned for this framework, only AdamW"));
}

TEST(EstimateJson, SaysWhatAnotherImbalanceWouldDo) {
  const auto other = [](const char* model) {
    const CommandOutput run =
        RunCommand({"estimate", "--model", model, "--cluster", "h100", "--gpus", "16", "--seq-len",
                    "4096", "--global-batch", "64", "--layout", "tp1.pp1.dp16.mb1.zero1",
                    "--format", "json", "--exit-zero"});
    return json::parse(run.out)["other_imbalance"];
  };
  EXPECT_EQ(other("qwen3-30b-a3b")["imbalance"], 1.2);
  EXPECT_TRUE(other("llama-3-8b").is_null());
}

TEST(RecommendText, ByRiskMatchesTheGoldenFile) {
  const CommandOutput run = RunCommand(Recommend("llama-3-70b", "h100", "64", "4096", "512",
                                                 {"--max-oom-probability", "0.2", "--top", "3"}));
  EXPECT_EQ(run.exit_code, 0);
  ExpectGolden("recommend_by_risk.txt", run.out);
}

// One condition of both flags: what it takes is listed, what else could run is counted.
TEST(RecommendCommand, SearchesWhatAConditionTakes) {
  const auto ask = [](std::vector<std::string> more) {
    more.insert(more.end(), {"--format", "json", "--top", "50"});
    return json::parse(RunCommand(Recommend("llama-3-8b", "h100", "16", "8192", "64", more)).out);
  };
  const json all = ask({});
  EXPECT_EQ(all["funnel"]["left_out"], 0);
  EXPECT_FALSE(all["request"].contains("where"));
  const json some = ask({"--where", "tp <= 2 or schedule = 1f1b", "--fix", "pp=2"});
  EXPECT_EQ(some["request"]["where"], "(tp <= 2 or sched = 1f1b) and (pp = 2)");
  EXPECT_GT(some["funnel"]["left_out"], 0);
  ASSERT_FALSE(some["layouts"].empty());
  for (const json& layout : some["layouts"]) {
    EXPECT_EQ(layout["axes"]["pp"], 2);
    EXPECT_TRUE(layout["axes"]["tp"] <= 2 || layout["axes"]["schedule"] == "1f1b") << layout;
  }
}

TEST(RecommendCommand, SaysThatItsTimeLimitEndedTheSearch) {
  const CommandOutput whole =
      RunCommand(Recommend("llama-3-8b", "h100", "16", "8192", "64", {"--time-limit", "100000"}));
  EXPECT_EQ(whole.exit_code, 0);
  EXPECT_THAT(whole.out, Not(HasSubstr("time limit")));
  const CommandOutput none =
      RunCommand(Recommend("llama-3-8b", "h100", "16", "8192", "64", {"--time-limit", "1e-9"}));
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("the time limit of 1e-09 s ended the search: 0 of "));
}

TEST(RecommendCommand, SaysWhatItSawWhenItIsInterrupted) {
  const std::atomic<bool> interrupted{true};
  const CommandOutput run =
      RunCommand(Recommend("llama-3-8b", "h100", "16", "8192", "64"), "/nonexistent", interrupted);
  EXPECT_EQ(run.exit_code, 130);
  EXPECT_THAT(run.err, HasSubstr("the search was cancelled: 0 of "));
}

TEST(ListCommand, PrintsPresets) {
  EXPECT_THAT(RunCommand({"list", "clusters"}).out, HasSubstr("\nlocal-cpu "));
  EXPECT_EQ(RunCommand({"list", "pets"}).exit_code, 2);
}

TEST(ListCommand, SaysWhatModelsAre) {
  const std::string text = RunCommand({"list", "models"}).out;
  EXPECT_THAT(text, testing::StartsWith("model "));
  EXPECT_THAT(text, testing::ContainsRegex("\nqwen3-8b +dense +8.19 B +8.19 B +- +- +40,960"));
  EXPECT_THAT(text,
              testing::ContainsRegex("\nqwen3-30b-a3b +experts +30.53 B +3.35 B +- +- +40,960"));
  EXPECT_THAT(text, HasSubstr("llama-3.3-70b"));
  const json answer = json::parse(RunCommand({"list", "models", "--format", "json"}).out);
  ASSERT_EQ(answer["models"].size(), answer["model_presets"].size());
  for (const json& preset : answer["model_presets"]) {
    EXPECT_NE(preset.contains("context_tokens"),
              preset["name"] == "hagemann-13b" || preset["name"] == "hagemann-30b" ||
                  preset["name"] == "hagemann-65b" || preset["name"] == "qwen2-57b-a14b" ||
                  preset["name"] == "tinystories-15m");
    if (preset["name"] != "qwen3-30b-a3b") continue;
    EXPECT_EQ(preset["kind"], "experts");
    EXPECT_EQ(preset["parameters"], 30532122624);
    EXPECT_EQ(preset["context_tokens"], 40960);
  }
  // Other names of a preset print its file.
  EXPECT_EQ(RunCommand({"list", "models", "Llama-3.3-70B"}).out,
            RunCommand({"list", "models", "llama-3.1-70b"}).out);
}

TEST(ListCommand, SaysWhatClustersAre) {
  const std::string text = RunCommand({"list", "clusters"}).out;
  EXPECT_THAT(text, testing::StartsWith("cluster "));
  EXPECT_THAT(text,
              testing::ContainsRegex(
                  "\nh100 +H100 SXM.* 8 +79.15 +3,350 +989 +450 +50 +fitted to [0-9]+ runs +"));
  EXPECT_THAT(text, testing::ContainsRegex("\nh100-94 .* data sheet +- +h100 +h100-sxm-94\n"));
  const json answer = json::parse(RunCommand({"list", "clusters", "--format", "json"}).out);
  ASSERT_EQ(answer["clusters"].size(), answer["cluster_presets"].size());
  for (const json& preset : answer["cluster_presets"]) {
    if (preset["name"] != "h100-94") continue;
    EXPECT_EQ(preset["memory_bytes"], 100480000000);
    EXPECT_EQ(preset["evidence"]["kind"], "data_sheet");
    EXPECT_FALSE(preset.contains("median_error"));
    EXPECT_EQ(preset["based_on"], "h100");
  }
}

TEST(ListCommand, SaysWhatProfilesAre) {
  const std::string text = RunCommand({"list", "profiles"}).out;
  EXPECT_THAT(text, testing::StartsWith("profile "));
  EXPECT_THAT(text, testing::ContainsRegex("\nmegatron +Megatron-LM.* tp sp cp pp vpp ep hs +0-3 "
                                           "+gpipe 1f1b interleaved +fitted to 111 runs of nemo"));
  EXPECT_THAT(text,
              testing::ContainsRegex("\ndeepspeed .* 0-3 +- +chosen +- +hf-fsdp2 +ds, zero, "));
  const json answer = json::parse(RunCommand({"list", "profiles", "--format", "json"}).out);
  ASSERT_EQ(answer["profiles"].size(), answer["profile_presets"].size());
  for (const json& preset : answer["profile_presets"]) {
    if (preset["name"] != "megatron") continue;
    EXPECT_EQ(preset["evidence"]["name"], "nemo");
    EXPECT_GT(preset["median_error"], 0.0);
    EXPECT_EQ(preset["other_names"][0], "megatron-lm");
  }
}

TEST(ListCommand, PrintsTheFileOfAPresetThatOtherCommandsTake) {
  const std::string file = testing::TempDir() + "/listed-" + std::to_string(getpid()) + ".json";
  const CommandOutput listed = RunCommand({"list", "clusters", "h100"});
  EXPECT_EQ(listed.exit_code, 0) << listed.err;
  std::ofstream(file) << listed.out;
  const auto estimate = [](const std::string& cluster) {
    return RunCommand({"estimate", "--model", "llama-3-8b", "--cluster", cluster, "--gpus", "8",
                       "--seq-len", "4096", "--global-batch", "16", "--layout", "tp8.pp1.dp1"});
  };
  EXPECT_EQ(estimate(file).exit_code, 0) << estimate(file).err;
  EXPECT_THAT(RunCommand({"list", "models", "llama-3.2-1b"}).out,
              HasSubstr("\"num_hidden_layers\": 16"));
  EXPECT_THAT(RunCommand({"list", "profiles", "meshwright"}).out, HasSubstr("\"name\""));
  std::filesystem::remove(file);
}

TEST(ListCommand, NamesWhatIsNearWhereAPresetIsNotKnown) {
  const CommandOutput run = RunCommand({"list", "clusters", "h1000"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("h100"));
  EXPECT_EQ(RunCommand({"list", "agents", "h100"}).exit_code, 2);
}

struct BadInput {
  const char* name;
  std::vector<std::string> arguments;
  const char* sentence;
};

class BadInputs : public testing::TestWithParam<BadInput> {};

TEST_P(BadInputs, GetOneClearSentenceAndExitCode2) {
  const CommandOutput run = RunCommand(GetParam().arguments);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr(GetParam().sentence));
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
}

INSTANTIATE_TEST_SUITE_P(
    Recommend, BadInputs,
    testing::Values(
        BadInput{"UnknownModel", Recommend("llama-3-8", "h100", "8", "8192", "8"),
                 "nearest: llama-3-8b"},
        BadInput{"UnknownCluster", Recommend("llama-3-8b", "h10", "8", "8192", "8"),
                 "cluster 'h10' is not known; nearest: h100"},
        BadInput{"UnknownFramework",
                 Recommend("llama-3-8b", "h100", "8", "8192", "8", {"--framework", "megatrn"}),
                 "nearest: megatron"},
        BadInput{"MissingFile", Recommend("./no.json", "h100", "8", "8192", "8"), "cannot be read"},
        BadInput{"ZeroGpus", Recommend("llama-3-8b", "h100", "0", "8192", "8"),
                 "--gpus 0: must be a whole number from 1"},
        BadInput{"NegativeBatch", Recommend("llama-3-8b", "h100", "8", "8192", "-8"),
                 "--global-batch -8: must"},
        BadInput{"HugeGpus", Recommend("llama-3-8b", "h100", "99999999999999999999", "8192", "8"),
                 "gpus"},
        BadInput{"NotANumber", Recommend("llama-3-8b", "h100", "eight", "8192", "8"), "--gpus"},
        BadInput{"BatchNotDivisible", Recommend("llama-3-8b", "h100", "13", "8192", "8"),
                 "must be a multiple of 13"},
        BadInput{
            "RiskAboveOne",
            Recommend("llama-3-8b", "h100", "8", "8192", "8", {"--max-oom-probability", "1.5"}),
            "--max-oom-probability 1.5: must be above 0 and at most 1"},
        BadInput{"NoRisk",
                 Recommend("llama-3-8b", "h100", "8", "8192", "8", {"--max-oom-probability", "0"}),
                 "--max-oom-probability 0: must be above 0 and at most 1"},
        BadInput{
            "NoField", Recommend("llama-3-8b", "h100", "8", "8192", "8", {"--where", "tq = 8"}),
            "--where tq = 8: at character 1 there is tq, where tp, cp, pp, dp, ep, etp, mb, vpp, "},
        BadInput{"FixedToNothing",
                 Recommend("llama-3-8b", "h100", "8", "8192", "8", {"--fix", "tp="}),
                 "--fix tp=: at character 4 the text ends, where a whole number must be"},
        BadInput{"NothingLeft",
                 Recommend("llama-3-8b", "h100", "8", "8192", "8", {"--where", "tp = 3"}),
                 "--where tp = 3: matches none of the "},
        BadInput{"NoTime", Recommend("llama-3-8b", "h100", "8", "8192", "8", {"--time-limit", "0"}),
                 "--time-limit 0: time_limit_s = 0: must be a positive number"},
        BadInput{"MineIsNoLayout",
                 Recommend("llama-3-8b", "h100", "8", "8192", "8", {"--mine", "mb2"}),
                 "must have at least one of tp, pp and dp"},
        BadInput{"LessThanBalanced",
                 Recommend("qwen3-30b-a3b", "h100", "8", "8192", "8", {"--imbalance", "0.5"}),
                 "--imbalance 0.5: must be from 1, where every rank's experts take equally many"},
        BadInput{"ImbalanceWithoutExperts",
                 Recommend("llama-3-8b", "h100", "8", "8192", "8", {"--imbalance", "1.2"}),
                 "llama-3-8b has none; must be 1"},
        BadInput{"BadOptimizer",
                 Recommend("llama-3-8b", "h100", "8", "8192", "8", {"--optimizer", "adam"}),
                 "--optimizer adam: must be adamw, muon, sgd, lion, adafactor or paged-adamw"},
        BadInput{"BadDtype", Recommend("llama-3-8b", "h100", "8", "8192", "8", {"--dtype", "fp8"}),
                 "must be bf16, fp16, fp32, fp64, fp8-delayed"}),
    [](const auto& test) { return test.param.name; });

class ModelFiles : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / name;
    std::ofstream(path) << text;
    return path.string();
  }
};

// As in the folder of the binary, which has the name of a framework profile.
TEST_F(ModelFiles, OfAPresetsNameAreNotTakenForIt) {
  Write("h100", "not a cluster");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(testing::TempDir());
  const CommandOutput preset = RunCommand(Recommend("llama-3-8b", "h100", "8", "8192", "8"));
  const CommandOutput file = RunCommand(Recommend("llama-3-8b", "./h100", "8", "8192", "8"));
  std::filesystem::remove("h100");
  std::filesystem::current_path(before);
  EXPECT_EQ(preset.exit_code, 0) << preset.err;
  EXPECT_EQ(file.exit_code, 2) << file.out;
}

TEST_F(ModelFiles, AConfigGivesTheSameAnswerAsThePresetOfItsShape) {
  const std::string path = Write("tiny.json", R"({"model_type": "llama", "hidden_size": 288,
    "num_hidden_layers": 6, "intermediate_size": 768, "num_attention_heads": 6,
    "vocab_size": 32000, "tie_word_embeddings": true})");
  const auto layouts = [](const std::string& model) {
    const CommandOutput run =
        RunCommand(Recommend(model, "h100", "4", "256", "8", {"--format", "json"}));
    return json::parse(run.out)["layouts"];
  };
  EXPECT_EQ(layouts(path), layouts("tinystories-15m"));
}

TEST_F(ModelFiles, MalformedConfigIsRefused) {
  const CommandOutput run =
      RunCommand(Recommend(Write("bad.json", "{\"hidden_size\": "), "h100", "8", "8192", "8"));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("is not valid JSON"));
}

TEST_F(ModelFiles, LayersThatAreNotPlannedAreRefusedByTheirKey) {
  const CommandOutput run =
      RunCommand(Recommend(Write("moe.json", R"({"model_type": "mistral", "lru_width": 2560})"),
                           "h100", "8", "8192", "8"));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("lru_width = 2560"));
}

}  // namespace
}  // namespace meshwright::cli
