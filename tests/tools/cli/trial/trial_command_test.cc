// meshwright trial with real worker processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "nlohmann/json.hpp"
#include "tests/executor/toy_gpt_oss.h"
#include "tests/tools/command_runner.h"
#include "tests/tools/json_schema.h"

namespace meshwright::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string BinaryDir() {
  const char* dir = std::getenv("MESHWRIGHT_BIN_DIR");
  return dir == nullptr ? "." : dir;
}

std::string SourceDir() {
  const char* dir = std::getenv("MESHWRIGHT_SOURCE_DIR");
  return dir == nullptr ? "." : dir;
}

std::vector<std::string> TrialOf(const std::string& model, const std::string& layout,
                                 std::vector<std::string> more) {
  std::vector<std::string> arguments = {
      "trial",          "--model", model,       "--layout", layout,     "--seq-len", "32",
      "--global-batch", "4",       "--devices", "cpu:4",    "--format", "json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::vector<std::string> Trial(const std::string& layout, std::vector<std::string> more = {}) {
  return TrialOf("tinystories-15m", layout, std::move(more));
}

json RunJsonOf(const std::string& model, const std::string& layout, std::vector<std::string> more) {
  const CommandOutput run = RunCommand(TrialOf(model, layout, std::move(more)), BinaryDir());
  EXPECT_EQ(run.exit_code, 0) << run.err << run.out;
  return json::parse(run.out);
}

json RunJson(const std::string& layout, std::vector<std::string> more = {}) {
  return RunJsonOf("tinystories-15m", layout, std::move(more));
}

// A model of two layers with experts whose router has losses, written where nobody else writes.
std::string ModelWithExperts() {
  std::string file =
      (std::filesystem::temp_directory_path() / ("experts_" + std::to_string(getpid()) + ".json"))
          .string();
  std::ofstream(file) << json{{"model_type", "mixtral"},
                              {"hidden_size", 32},
                              {"num_hidden_layers", 2},
                              {"intermediate_size", 24},
                              {"num_attention_heads", 4},
                              {"num_key_value_heads", 2},
                              {"num_local_experts", 8},
                              {"num_experts_per_tok", 2},
                              {"vocab_size", 64},
                              {"router_aux_loss_coef", 0.02},
                              {"moe_expert_capacity_factor", 1.25}};
  return file;
}

TEST(TrialCommand, LearnedRoutingHoldsWhatItsRowsMakeOfTheEstimate) {
  const std::string model = ModelWithExperts();
  const json trial =
      RunJsonOf(model, "tp2.pp1.dp2.ep2.zero1.sp1.mb1",
                {"--steps", "3", "--dtype", "fp32", "--routing", "learned", "--optimizer", "muon"});
  std::filesystem::remove(model);
  EXPECT_EQ(SchemaProblems("trial", trial), "");
  ASSERT_EQ(trial["ranks"].size(), 4u);
  int64_t tokens = 0;
  for (const json& rank : trial["ranks"]) {
    EXPECT_EQ(rank["peak_bytes"], rank["estimated_routed_bytes"]) << rank.dump();
    EXPECT_EQ(rank["expert_tokens"].size(), 4u);
    for (const json& of_expert : rank["expert_tokens"]) tokens += of_expert.get<int64_t>();
  }
  // Of two layers and three steps, without what came above an expert's capacity.
  EXPECT_LE(tokens, 4 * 32 * 2 * 2 * 3);
  EXPECT_GT(tokens, 4 * 32 * 2 * 3);
}

// Windows, sinks, biases and clamped experts, as a folder that a model was downloaded to has them.
class ToyGptOss {
 public:
  ToyGptOss()
      : folder_(std::filesystem::temp_directory_path() / ("gpt_oss_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "config.json") << trial::kToyGptOss;
  }
  ~ToyGptOss() { std::filesystem::remove_all(folder_); }
  ToyGptOss(const ToyGptOss&) = delete;
  ToyGptOss& operator=(const ToyGptOss&) = delete;

  std::string folder() const { return folder_.string(); }

 private:
  const std::filesystem::path folder_;
};

TEST(TrialCommand, RunsGptOssFromItsConfigFile) {
  const ToyGptOss model;
  const json one =
      RunJsonOf(model.folder(), "tp1.pp1.dp1.mb4", {"--steps", "3", "--dtype", "fp32"});
  const json divided = RunJsonOf(model.folder(), "tp2.pp1.dp2.ep2.etp2.zero1.sp1.mb1",
                                 {"--steps", "3", "--dtype", "fp32"});
  EXPECT_EQ(SchemaProblems("trial", divided), "");
  EXPECT_EQ(divided["outcome"], "ok");
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(divided["losses"][i].get<double>(), one["losses"][i].get<double>(), 1e-4);
  }
  for (const json& rank : divided["ranks"]) {
    EXPECT_EQ(rank["peak_bytes"], rank["estimated_bytes"]) << rank.dump();
  }
}

// Of a cluster of processors, which alone run sinks.
TEST(TrialCommand, SlicesGptOss) {
  const ToyGptOss model;
  const CommandOutput run =
      RunCommand({"trial",     "--model", model.folder(),   "--layout",  "tp1.pp2.dp512.ep4.mb1",
                  "--seq-len", "32",      "--global-batch", "1024",      "--devices",
                  "cpu:1",     "--slice", "--cluster",      "local-cpu", "--steps",
                  "2",         "--dtype", "fp32",           "--format",  "json"},
                 BinaryDir());
  ASSERT_EQ(run.exit_code, 0) << run.err << run.out;
  const json slice = json::parse(run.out);
  EXPECT_EQ(slice["outcome"], "ok") << slice.dump();
}

TEST(TrialCommand, HasTheKeysOfTheContract) {
  const json trial = RunJson("tp2.pp2.dp1.mb1", {"--steps", "2"});
  EXPECT_EQ(SchemaProblems("trial", trial), "");
  EXPECT_EQ(trial["outcome"], "ok");
  EXPECT_GT(trial["step_s"].get<double>(), 0);
  EXPECT_GT(trial["mfu"].get<double>(), 0);
  ASSERT_EQ(trial["losses"].size(), 2u);
  ASSERT_EQ(trial["gradient_norms"].size(), 2u);
  ASSERT_EQ(trial["ranks"].size(), 4u);
  // The prediction's peak: a quarter of two cores each.
  EXPECT_EQ(trial["peak_flops"], 57.5e9);
  EXPECT_NEAR(trial["mfu_of_peak"].get<double>() * trial["peak_flops"].get<double>(),
              trial["mfu"].get<double>() * trial["measured_peak_flops"].get<double>(), 1.0);
  EXPECT_LT(trial["mfu_causal"], trial["mfu"]);
  EXPECT_LT(trial["mfu_causal_of_peak"], trial["mfu_of_peak"]);
  EXPECT_EQ(trial["predicted"]["layout"], "tp2.cp1.pp2.dp1.mb1.vpp1.zero0.sp0.rc=none.sched=1f1b");
}

// Weights start near zero, so the first loss is that of a uniform guess.
TEST(TrialCommand, FirstLossIsThatOfAGuess) {
  const json trial = RunJson("tp1.pp1.dp1.mb4", {"--steps", "1"});
  EXPECT_NEAR(trial["losses"][0].get<double>(), std::log(32000.0), 0.2);
}

TEST(TrialCommand, LossesDependOnTheSeedAndNotOnTheLayout) {
  const json one = RunJson("tp1.pp1.dp1.mb2", {"--steps", "3"})["losses"];
  for (const char* layout : {"tp2.pp1.dp1.mb1", "tp1.pp2.dp2.mb1", "tp2.pp2.dp1.mb2"}) {
    const json other = RunJson(layout, {"--steps", "3"})["losses"];
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(other[i].get<double>(), one[i].get<double>(), 1e-4) << layout << " step " << i;
    }
  }
  const json seeded = RunJson("tp1.pp1.dp1.mb2", {"--steps", "3", "--seed", "7"})["losses"];
  EXPECT_GT(std::abs(seeded[0].get<double>() - one[0].get<double>()), 1e-3);
}

TEST(TrialCommand, PeakBytesAreWhatWasEstimated) {
  for (const char* layout : {"tp1.pp1.dp1.mb2", "tp2.pp2.dp1.mb1", "tp1.pp2.dp2.mb1"}) {
    const json trial = RunJson(layout, {"--steps", "1"});
    for (const json& rank : trial["ranks"]) {
      EXPECT_NEAR(rank["peak_bytes"].get<double>(), rank["estimated_bytes"].get<double>(),
                  0.001 * rank["estimated_bytes"].get<double>())
          << layout << " rank " << rank["rank"];
    }
  }
}

TEST(TrialCommand, TellsWhatAStepIsSpentOn) {
  const json trial = RunJson("tp2.pp2.dp1.mb1", {"--steps", "3"});
  for (const json& rank : trial["ranks"]) {
    double sum_s = 0.0;
    for (const auto& [name, seconds] : rank["phases"].items()) {
      EXPECT_TRUE(name.ends_with("_s")) << name;
      sum_s += seconds.get<double>();
    }
    // Means over all ranks' own steps against the slowest rank's median.
    EXPECT_NEAR(sum_s, trial["step_s"].get<double>(), 0.5 * trial["step_s"].get<double>());
    EXPECT_GT(rank["phases"]["forward_s"].get<double>(), 0.0);
    EXPECT_GT(rank["phases"]["tensor_parallel_s"].get<double>(), 0.0);
    const auto tp = std::find_if(
        rank["communication"].begin(), rank["communication"].end(), [](const json& total) {
          return total["group"] == "tp" && total["operation"] == "all_reduce";
        });
    ASSERT_NE(tp, rank["communication"].end());
    // 4 micro-batches; in each of 3 layers two all-reduces each way, at the ends a few more.
    EXPECT_GE((*tp)["calls"].get<double>(), 4 * 3 * 4);
    EXPECT_GT((*tp)["bytes"].get<double>(), 0.0);
  }
}

std::string TemporaryFile(const char* name) {
  return testing::TempDir() + name + "." + std::to_string(::getpid());
}

TEST(TrialCommand, WritesATraceOfAllRanks) {
  const std::string path = TemporaryFile("trace.json");
  RunJson("tp2.pp2.dp1.mb1", {"--steps", "2", "--trace", path});
  std::ifstream file(path);
  const json trace = json::parse(file);
  std::map<int, std::string> ranks;
  std::map<int, int> actions;
  std::map<int, double> end_us;
  for (const json& event : trace["traceEvents"]) {
    for (const char* key : {"ph", "ts", "dur", "pid", "tid"}) {
      EXPECT_TRUE(event.contains(key)) << event;
    }
    if (event["name"] == "process_name") ranks[event["pid"]] = event["args"]["name"];
    if (event["ph"] != "X" || event["tid"] != 0) continue;
    EXPECT_GE(event["ts"].get<double>(), end_us[event["pid"]]) << event;
    end_us[event["pid"]] = event["ts"].get<double>() + event["dur"].get<double>();
    if (event["args"].contains("micro_batch")) ++actions[event["pid"]];
  }
  ASSERT_EQ(ranks.size(), 4u);
  EXPECT_EQ(ranks[3], "rank 3 (tp1 pp1 dp0)");
  // A forward and a backward of each of 4 micro-batches.
  for (const auto& [rank, count] : actions) EXPECT_EQ(count, 8) << rank;
  EXPECT_EQ(actions.size(), 4u);
  std::filesystem::remove(path);
}

// Heads whose width is not hidden / heads, and a norm over each.
constexpr const char* kSmallQwen3 = R"({
  "model_type": "qwen3", "hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4,
  "num_key_value_heads": 2, "head_dim": 32, "intermediate_size": 96, "vocab_size": 256,
  "hidden_act": "silu", "rms_norm_eps": 1e-6, "rope_theta": 1000000.0,
  "tie_word_embeddings": true})";

TEST(TrialCommand, RunsAQwen3Config) {
  const std::string path = TemporaryFile("qwen3.json");
  std::ofstream(path) << kSmallQwen3;
  const json one = RunJsonOf(path, "tp1.pp1.dp1.mb2", {"--steps", "2"});
  const json many = RunJsonOf(path, "tp2.pp2.dp1.mb1.sched=zb_h1", {"--steps", "2"});
  EXPECT_NEAR(one["losses"][0].get<double>(), std::log(256.0), 0.2);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(many["losses"][i].get<double>(), one["losses"][i].get<double>(), 1e-4);
  }
  ASSERT_EQ(many["ranks"].size(), 4u);
  for (const json& rank : many["ranks"]) {
    EXPECT_EQ(rank["peak_bytes"], rank["estimated_bytes"]);
  }
  std::filesystem::remove(path);
}

TEST(TrialCommand, RefusesATraceThatCannotBeWritten) {
  const CommandOutput run =
      RunCommand(Trial("tp1.pp1.dp1.mb4", {"--trace", "/nowhere/trace.json"}), BinaryDir());
  EXPECT_NE(run.exit_code, 0);
  EXPECT_THAT(run.err + run.out, HasSubstr("/nowhere/trace.json: cannot be written"));
}

TEST(TrialCommand, RunsAsManyStepsAsItTakes) {
  const std::string path = TemporaryFile("adaptive.json");
  std::ofstream(path) << kSmallQwen3;
  const json trial = RunJsonOf(path, "tp1.pp2.dp1.mb4", {});
  std::filesystem::remove(path);
  const size_t steps = trial["step_times_s"].size();
  EXPECT_EQ(trial["losses"].size(), steps);
  EXPECT_GE(steps, 7u);
  EXPECT_LE(steps, 50u);
  EXPECT_THAT(trial["stop_reason"].get<std::string>(),
              testing::AnyOf("tight", "steps", "most_time"));
  EXPECT_LE(trial["step_interval"]["low_s"].get<double>(), trial["step_s"].get<double>());
  EXPECT_GE(trial["step_interval"]["high_s"].get<double>(), trial["step_s"].get<double>());
}

TEST(TrialCommand, OutOfMemoryIsAnOutcomeWithItsBytes) {
  const CommandOutput run =
      RunCommand(Trial("tp1.pp2.dp1.mb4", {"--memory-limit-gib", "0.1"}), BinaryDir());
  EXPECT_NE(run.exit_code, 0);
  const json trial = json::parse(run.out);
  EXPECT_EQ(trial["outcome"], "oom");
  EXPECT_GT(
      trial["oom"]["requested_bytes"].get<int64_t>() + trial["oom"]["held_bytes"].get<int64_t>(),
      trial["oom"]["limit_bytes"].get<int64_t>());
}

TEST(TrialCommand, LeavesAnEarlierTraceWhereItFails) {
  const std::string path = TemporaryFile("kept.json");
  std::ofstream(path) << "earlier";
  const CommandOutput run =
      RunCommand(Trial("tp1.pp1.dp1", {"--steps", "1", "--trace", path}), "/nowhere");
  EXPECT_NE(run.exit_code, 0);
  std::string text;
  std::getline(std::ifstream(path), text);
  EXPECT_EQ(text, "earlier");
  std::filesystem::remove(path);
}

TEST(TrialCommand, MissingWorkerIsAFailedTrial) {
  const CommandOutput run = RunCommand(Trial("tp1.pp1.dp1"));
  EXPECT_NE(run.exit_code, 0);
  EXPECT_EQ(json::parse(run.out)["outcome"], "failed");
}

TEST(TrialCommand, InterruptKillsTheWorkersAndExitsWith130) {
  std::atomic<bool> interrupted{false};
  std::thread interrupter([&interrupted] {
    std::this_thread::sleep_for(std::chrono::seconds(2));
    interrupted = true;
  });
  const CommandOutput run =
      RunCommand(Trial("tp1.pp2.dp1.mb1", {"--steps", "100000"}), BinaryDir(), interrupted);
  interrupter.join();
  EXPECT_EQ(run.exit_code, 130);
}

// Llama heads are ones that CUDA's attention takes.
CommandOutput TrialOnCuda(const trial::DeviceList& devices, const std::string& layout,
                          std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"trial", "--model",   "llama-3.2-1b", "--layout",
                                        layout,  "--seq-len", "128",          "--global-batch",
                                        "4",     "--devices", "cuda"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return RunCommand(arguments, "/nonexistent", kNeverInterrupted, devices);
}

const trial::DeviceList kThreeDevices = {.devices = std::vector<trial::ListedDevice>(3),
                                         .reason = ""};

TEST(TrialCommand, SaysWhyThereIsNoCudaDevice) {
  const CommandOutput run = TrialOnCuda({.devices = {}, .reason = "no driver"}, "tp1.pp1.dp1.mb1");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("--devices cuda: there is no CUDA device here: no driver"));
}

TEST(TrialCommand, RefusesMoreRanksThanThereAreCudaDevices) {
  const CommandOutput run = TrialOnCuda(kThreeDevices, "tp2.pp2.dp1.mb1");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err,
              HasSubstr("--devices cuda: the layout needs 4 ranks, but there are only 3 CUDA"));
}

TEST(TrialCommand, SlicesNeedOneCudaDevice) {
  const CommandOutput run =
      TrialOnCuda(kThreeDevices, "tp2.pp2.dp1.mb1", {"--slice", "--cluster", "h100"});
  EXPECT_THAT(run.out, HasSubstr("can't be started"));
}

struct BadTrial {
  const char* name;
  std::string layout;
  std::vector<std::string> more;
  const char* sentence;
};

class BadTrials : public testing::TestWithParam<BadTrial> {};

TEST_P(BadTrials, AreRefusedBeforeAnythingStarts) {
  const CommandOutput run = RunCommand(Trial(GetParam().layout, GetParam().more));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr(GetParam().sentence));
}

INSTANTIATE_TEST_SUITE_P(
    Inputs, BadTrials,
    testing::Values(BadTrial{"TooManyRanks", "tp2.pp2.dp2", {}, "the layout needs 8 ranks"},
                    BadTrial{"HeadsNotDivisible", "tp4.pp1.dp1", {}, "6 attention heads"},
                    BadTrial{"EagerNorm", "tp1.pp1.dp1.norm=eager", {}, "norm=eager"},
                    BadTrial{"ZeroSteps", "tp1.pp1.dp1", {"--steps", "0"}, "--steps 0:"},
                    BadTrial{"NegativeSeed", "tp1.pp1.dp1", {"--seed", "-1"}, "--seed -1:"},
                    BadTrial{"NegativeLimit",
                             "tp1.pp1.dp1",
                             {"--memory-limit-gib", "-1"},
                             "--memory-limit-gib -1:"},
                    BadTrial{"ARunnerThatRunsNoRankAlone",
                             "tp1.pp1.dp4",
                             {"--slice", "--cluster", "h100", "--runner",
                              SourceDir() + "/tools/runners/hf-trainer.json"},
                             "hf-trainer: must have \"slice\""},
                    BadTrial{"ASliceOfACommandLine",
                             "tp1.pp1.dp4",
                             {"--slice", "--cluster", "h100", "--command", "run"},
                             "--slice"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace meshwright::cli
