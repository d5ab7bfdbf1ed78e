#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "nlohmann/json.hpp"
#include "tests/tools/command_runner.h"

namespace meshwright::cli {
namespace {

using nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;

std::string Written(const char* name, const std::string& text) {
  std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path) << text;
  return path;
}

constexpr char kScript[] =
    "#!/bin/bash\ntorchrun --nnodes 8 --nproc-per-node 8 pretrain_gpt.py \\\n"
    "  --tensor-model-parallel-size 4 --pipeline-model-parallel-size 4 --sequence-parallel \\\n"
    "  --use-distributed-optimizer --micro-batch-size 1 --global-batch-size 512 \\\n"
    "  --seq-length 4096 --num-layers 80 --hidden-size 8192 \\\n"
    "  --ffn-hidden-size 28672 --vocab-size 128256 --bf16 --lr 1e-4";

TEST(ImportCommand, PrintsAnAnswerThatScriptsRead) {
  const std::string path = Written("import_all.sh", kScript);
  const CommandOutput run = RunCommand({"import", "--from", "megatron", path, "--format", "json"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const json answer = json::parse(run.out);
  EXPECT_EQ(answer["schema_version"], 1);
  EXPECT_EQ(answer["layout"], "tp4.cp1.pp4.dp4.mb1.vpp1.zero1.sp1.rc=none.sched=1f1b");
  EXPECT_EQ(answer["request"]["gpus"], 64);
  EXPECT_EQ(answer["request"]["seq_len"], 4096);
  EXPECT_EQ(answer["request"]["dtype"], "bf16");
  EXPECT_EQ(answer["request"]["model"], "llama-3-70b");
  EXPECT_EQ(answer["complete"], true) << run.out;
  EXPECT_EQ(answer["entries"][0]["name"], "--nnodes");
  EXPECT_EQ(answer["entries"][0]["status"], "used");
}

TEST(ImportCommand, ExitsWithTwoWhereAnEntryIsRejectedOrNoLayoutComesOut) {
  const std::string rejected =
      Written("import_rejected.sh", std::string(kScript) + " --fp8-param-gather\n");
  CommandOutput run = RunCommand({"import", "--from", "megatron", rejected});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.out, HasSubstr("tp4.cp1.pp4.dp4"));
  EXPECT_THAT(run.out, HasSubstr("rejected:\n  --fp8-param-gather"));
  const std::string list = Written("import_list.txt", "--tensor-model-parallel-size 2\n");
  run = RunCommand({"import", "--from", "megatron", list, "--format", "json"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(json::parse(run.out)["layout"].is_null());
  EXPECT_THAT(json::parse(run.out)["missing"].dump(), HasSubstr("--gpus N"));
  run = RunCommand(
      {"import", "--from", "megatron", list, "--gpus", "8", "--set", "micro-batch-size=1"});
  EXPECT_EQ(run.exit_code, 0) << run.out;
}

TEST(ImportCommand, NamesAFileThatIsNoneOfTheFramework) {
  const std::string path = Written("import_none.json", "{\"zero_optimization\": ");
  const CommandOutput run = RunCommand({"import", "--from", "deepspeed", path});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("import_none.json"));
}

TEST(RecommendMine, TakesAFileInPlaceOfALayout) {
  const std::string path =
      Written("import_mine.sh", std::string(kScript) + " --fp8-param-gather\n");
  const CommandOutput run =
      RunCommand({"recommend", "--model", "llama-3-70b", "--cluster", "h100", "--gpus", "64",
                  "--seq-len", "4096", "--global-batch", "256", "--mine", path});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("Mine, tp4.pp4.dp4"));
  EXPECT_THAT(run.err,
              HasSubstr("ignores settings that change memory or time: --fp8-param-gather"));
  EXPECT_THAT(run.err, HasSubstr("the file has a batch of 512; the command uses 256\n"));
}

TEST(RecommendMine, TakesFromTheFileWhatNoFlagGives) {
  const std::string path = Written("import_mine_alone.sh", kScript);
  CommandOutput run = RunCommand({"recommend", "--cluster", "h100", "--mine", path});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "note: --mine: taken from " + path +
                         ": the model llama-3-70b, sequences of 4,096 tokens, a batch of 512 and "
                         "64 devices\n");
  EXPECT_THAT(run.out, HasSubstr("Mine, tp4.pp4.dp4.zero1.sp1:\n  rank "));
  EXPECT_THAT(run.out, HasSubstr("sequence 4,096, global batch 512"));
  // What is given counts, and the cluster's devices too.
  run =
      RunCommand({"recommend", "--cluster", "h100:8x16", "--model", "llama-3-8b", "--mine", path});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, ContainsRegex("a step of llama-3-8b takes [0-9.]+ s on 128 devices."));
  EXPECT_THAT(run.out, HasSubstr("(h100:8x16): "));
  EXPECT_THAT(run.err,
              HasSubstr("the file has the model llama-3-70b; the command uses llama-3-8b\n"));
  EXPECT_THAT(run.err, HasSubstr("sequences of 4,096 tokens and a batch of 512\n"));
}

TEST(RecommendMine, AsksForWhatNeitherTheFileNorAFlagSays) {
  const std::string path = Written("import_mine_deepspeed.json",
                                   R"({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 1,
          "zero_optimization": {"stage": 2}})");
  CommandOutput run = RunCommand(
      {"recommend", "--cluster", "h100:8x1", "--framework", "deepspeed", "--mine", path});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("--model (absent): must be given, since " + path));
  run = RunCommand({"recommend", "--cluster", "h100:8x1", "--mine", "tp2.dp4"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("--model and --seq-len are required"));
}

}  // namespace
}  // namespace meshwright::cli
