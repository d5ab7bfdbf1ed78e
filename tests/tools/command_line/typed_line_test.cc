// What command lines that can't be taken are told, and in whose words.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/tools/command_runner.h"

namespace meshwright::command_line {
namespace {

using ::nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> With(std::vector<std::string> words,
                              const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

const std::vector<std::string> kQuery = {"--gpus", "8", "--seq-len", "4096", "--global-batch", "8"};

std::vector<std::string> Recommend(const std::string& model, const std::string& cluster,
                                   const std::vector<std::string>& more = {}) {
  return With(With({"recommend", "--model", model, "--cluster", cluster}, kQuery), more);
}

void ExpectRefused(const std::vector<std::string>& words, const std::string& message) {
  const cli::CommandOutput run = cli::RunCommand(words);
  EXPECT_EQ(run.exit_code, cli::kExitBadInput) << run.err;
  EXPECT_THAT(run.err, HasSubstr(message));
  EXPECT_THAT(run.out, Not(HasSubstr("error")));
}

TEST(TypedLine, NamesAnUnknownWordAndTheNearest) {
  ExpectRefused({"recomend"}, "no command 'meshwright recomend'; nearest: recommend (");
  ExpectRefused({"sweep", "strat"}, "no command 'meshwright sweep strat'; nearest: start");
  ExpectRefused({"db", "check", "--db", "x", "y"}, "meshwright db check does not expect 'y'");
}

TEST(TypedLine, NamesUnknownFlagsBeforeWhatIsMissing) {
  ExpectRefused({"recommend", "--sequence-length", "5"},
                "--sequence-length is not a flag of meshwright recommend; nearest: --seq-len (");
  ExpectRefused({"recommend", "--GPU=5", "--global_batch", "8"},
                "--GPU is not a flag of meshwright recommend; nearest: --gpus; --global_batch is "
                "not a flag of meshwright recommend; nearest: --global-batch (");
  ExpectRefused({"recommend", "-model", "x"}, "-model is not a flag");
  ExpectRefused({"--format", "text", "recommend"},
                "--format must stand behind meshwright recommend");
}

TEST(TypedLine, ListsWhatIsMissingInItsOrder) {
  ExpectRefused({"recommend", "--gpus", "8"},
                "meshwright: --model, --cluster and --seq-len are required");
  ExpectRefused({"list"}, "kind is required");
}

TEST(TypedLine, NamesTheFlagThatIsWrong) {
  ExpectRefused({"recommend", "--gpus", "many"}, "--gpus many: must be a whole number");
  ExpectRefused({"recommend", "--max-oom-probability", "x"},
                "--max-oom-probability x: must be a number");
  ExpectRefused({"recommend", "--top"}, "--top needs a value: K");
  ExpectRefused({"recommend", "--gpus", "1", "--gpus", "2"},
                "--gpus is given 2 times: 1, 2; it takes one value");
  ExpectRefused({"schedule", "--layout", "pp4", "--micro-batches", "4", "--model", "x"},
                "--micro-batches can't go with --model");
  ExpectRefused({"list", "modles"}, "kind modles: must be models, clusters, profiles or agents");
}

TEST(TypedLine, SaysTheWordsOfAFlagAlone) {
  ExpectRefused({"recommend", "--format", "yaml"}, "--format yaml: must be text or json (");
  ExpectRefused({"recommend", "--dtype", "int4"},
                "--dtype int4: must be bf16, fp16, fp32, fp64, fp8-delayed, fp8-current, "
                "fp8-blockwise, mxfp8 or nvfp4 (");
  ExpectRefused({"export", "--to", "jax"}, "--to jax: must be megatron, ");
}

TEST(TypedLine, TakesWordsInAnyCase) {
  const cli::CommandOutput run = cli::RunCommand(Recommend(
      "LLaMA-3-8B", "H100", {"--framework", "Megatron", "--dtype", "BF16", "--format", "JSON"}));
  ASSERT_EQ(run.exit_code, cli::kExitOk) << run.err;
  const json request = json::parse(run.out)["request"];
  EXPECT_EQ(request["model"], "llama-3-8b");
  EXPECT_EQ(request["cluster"], "h100");
  EXPECT_EQ(request["framework"], "megatron");
  EXPECT_EQ(cli::RunCommand({"LIST", "models"}).exit_code, cli::kExitBadInput);
  EXPECT_EQ(cli::RunCommand({"list", "MODELS"}).exit_code, cli::kExitOk);
  EXPECT_EQ(cli::RunCommand({"list", "clusters", "H100"}).exit_code, cli::kExitOk);
  EXPECT_EQ(
      cli::RunCommand({"schedule", "--layout", "TP1.PP4.dp1.Sched=1F1B", "--micro-batches", "4"})
          .exit_code,
      cli::kExitOk);
}

TEST(TypedLine, ErrorsAreJsonWhereverTheFlagStands) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"recommend", "--format", "json", "--gpus", "x"},
           {"recommend", "--gpus", "x", "--format", "JSON"},
           {"recommend", "--nonsense", "--format=json"},
           {"recomend", "--format", "json"},
           Recommend("llama-3-8b", "a1000", {"--format", "json"})}) {
    const cli::CommandOutput run = cli::RunCommand(words);
    EXPECT_EQ(run.exit_code, cli::kExitBadInput);
    const json answer = json::parse(run.out, nullptr, false);
    ASSERT_TRUE(answer.is_object()) << run.out;
    EXPECT_FALSE(answer["error"]["message"].get<std::string>().empty());
    EXPECT_THAT(run.err, StartsWith("meshwright: "));
  }
}

TEST(TypedLine, WithoutACommandShowsHelpAndFails) {
  const cli::CommandOutput bare = cli::RunCommand({});
  EXPECT_EQ(bare.exit_code, cli::kExitBadInput);
  EXPECT_THAT(bare.err, HasSubstr("Usage: meshwright COMMAND"));
  EXPECT_THAT(bare.err, HasSubstr("recommend"));
  const cli::CommandOutput group = cli::RunCommand({"sweep"});
  EXPECT_EQ(group.exit_code, cli::kExitBadInput);
  EXPECT_THAT(group.err, HasSubstr("Usage: meshwright sweep COMMAND"));
}

TEST(TypedLine, HelpAndVersionWorkAsWordsToo) {
  EXPECT_EQ(cli::RunCommand({"help"}).out, cli::RunCommand({"--help"}).out);
  EXPECT_EQ(cli::RunCommand({"help", "sweep", "start"}).out,
            cli::RunCommand({"sweep", "start", "--help"}).out);
  ExpectRefused({"help", "recomend"}, "'recomend' is not known; nearest: recommend");
  EXPECT_EQ(cli::RunCommand({"version"}).out, cli::RunCommand({"-V"}).out);
  EXPECT_EQ(cli::RunCommand({"version"}).out, cli::RunCommand({"--version"}).out);
}

TEST(TypedLine, FieldsAreNamedAsTheFlagThatWasTyped) {
  ExpectRefused(Recommend("llama-3-8b", "h100", {"--top", "0"}), "meshwright: --top 0: must be");
  ExpectRefused({"schedule", "--layout", "tp1.pp4.dp1", "--micro-batches", "0"},
                "meshwright: --micro-batches 0: must be");
  ExpectRefused({"schedule", "--layout", "tp1.pp4.dp1"}, "--micro-batches is required");
  ExpectRefused(
      {"schedule", "--layout", "tp1.pp4.dp1", "--model", "llama-3-8b", "--cluster", "h100"},
      "--seq-len is required: must be a whole number");
  ExpectRefused({"schedule", "--layout", "mb4"},
                "meshwright: --layout mb4: must have at least one of tp, pp and dp");
  ExpectRefused({"schedule", "--layout", "tp1.pp4.dp1.sched=zb_v", "--micro-batches", "4"},
                "meshwright: --layout: vpp = 1: sched=zb_v takes vpp 2");
  ExpectRefused({"schedule", "--layout", "tp1.pp4.dp1.attn=best", "--micro-batches", "4"},
                "meshwright: --layout: attn = best: must be one of flash4");
  const std::vector<std::string> drawn = {"schedule", "--layout", "tp1.pp4.dp1", "--micro-batches",
                                          "4"};
  ExpectRefused(With(drawn, {"-o", "x.png"}), "meshwright: -o x.png: must end in .json");
  ExpectRefused(With(drawn, {"--output", "x.png"}), "meshwright: --output x.png: must end in");
}

TEST(TypedLine, AnUnknownPresetIsNamedWithItsFlag) {
  ExpectRefused(Recommend("llama-3-8b", "a100-60"),
                "--cluster: cluster 'a100-60' is not known; nearest: a100-40, a100-80");
  ExpectRefused(Recommend("llama-3-8b", "h100", {"--framework", "megatrn"}),
                "--framework: framework 'megatrn' is not known; nearest: megatron");
}

TEST(TypedLine, SaysWhatTheFrameworkHasInstead) {
  ExpectRefused(With({"estimate", "--model", "llama-3-8b", "--cluster", "h100", "--layout",
                      "tp1.pp4.dp2.sched=zb_h1"},
                     kQuery),
                "the framework does not have this schedule; it has gpipe, 1f1b, interleaved");
}

class InputFiles : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) {
    std::string path = folder_ + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
    return path;
  }
  static std::string Preset(const std::string& kind, const std::string& name) {
    return cli::RunCommand({"list", kind, name}).out;
  }

  const std::string folder_ = testing::TempDir() + "input-files-" +
                              testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(InputFiles, BrokenJsonIsNamedWithFileLineAndColumn) {
  const std::string path = Write("here.json", "{\n  \"name\": \"x\",\n  \"device\": }\n");
  ExpectRefused(Recommend("llama-3-8b", path),
                "--cluster " + path + ": line 3, column 13: is not valid JSON");
}

TEST_F(InputFiles, AFieldOfAFileIsNamedWithTheFile) {
  json cluster = json::parse(Preset("clusters", "h100"));
  cluster["device"]["memory_bytes"] = 0;
  const std::string path = Write("here.json", cluster.dump());
  ExpectRefused(Recommend("llama-3-8b", path),
                "--cluster " + path + ": device.memory_bytes = 0: must be");
  const cli::CommandOutput run =
      cli::RunCommand(Recommend("llama-3-8b", path, {"--format", "json"}));
  EXPECT_EQ(json::parse(run.out)["error"]["field"], "device.memory_bytes");
}

TEST_F(InputFiles, AFileOfAnotherKindIsRecognised) {
  const std::string model = Write("model.json", Preset("models", "llama-3-8b"));
  const std::string cluster = Write("cluster.json", Preset("clusters", "h100"));
  const std::string profile = Write("profile.json", Preset("profiles", "megatron"));
  ExpectRefused(Recommend("llama-3-8b", model),
                "--cluster " + model + ": is a model, not a cluster; --model takes it");
  ExpectRefused(Recommend(cluster, "h100"),
                "--model " + cluster + ": is a cluster, not a model; --cluster takes it");
  ExpectRefused(Recommend("llama-3-8b", profile),
                "is a framework's profile, not a cluster; --framework takes it");
  ExpectRefused(Recommend("llama-3-8b", "h100", {"--framework", model}),
                "is a model, not a framework's profile; --model takes it");
  ExpectRefused(Recommend("h100", "h100"), "--model h100: is a cluster, not a model");
}

TEST_F(InputFiles, AFolderStandsForTheModelInIt) {
  const std::string path = Write("my-llama/config.json", Preset("models", "llama-3-8b"));
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const cli::CommandOutput run =
      cli::RunCommand(Recommend(folder, "h100", {"--top", "1", "--format", "json"}));
  ASSERT_EQ(run.exit_code, cli::kExitOk) << run.err;
  EXPECT_EQ(json::parse(run.out)["request"]["model"], "my-llama");
  ExpectRefused(Recommend("llama-3-8b", folder), "--cluster " + folder + ": is a folder");
  std::filesystem::remove(path);
  ExpectRefused(Recommend(folder, "h100"), "--model " + folder + ": has no config.json; must be");
}

}  // namespace
}  // namespace meshwright::command_line
