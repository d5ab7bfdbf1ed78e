#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/tools/command_runner.h"
#include "tests/tools/golden.h"

namespace meshwright::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::vector<std::string> ExportTo(const char* to, const char* model, const char* layout,
                                  std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"export", "--to", to, "--model", model, "--layout", layout};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(ExportCommand, MegatronMatchesTheGoldenFile) {
  const CommandOutput run =
      RunCommand(ExportTo("megatron", "llama-3-70b", "tp4.pp4.dp4.mb2.vpp5.zero1.sp1.rc=selective",
                          {"--seq-len", "8192", "--global-batch", "512"}));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  ExpectGolden("export_megatron_llama3_70b.sh", run.out);
}

TEST(ExportCommand, MegatronFsdpMatchesTheGoldenFile) {
  const CommandOutput run =
      RunCommand(ExportTo("megatron", "qwen2.5-7b", "tp1.cp2.pp1.dp8.zero3.rc=block:4"));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  ExpectGolden("export_megatron_qwen_fsdp.sh", run.out);
}

struct GoldenExport {
  const char* to;
  const char* model;
  const char* layout;
  const char* file;
};

class ExportMatches : public testing::TestWithParam<GoldenExport> {};

TEST_P(ExportMatches, TheGoldenFile) {
  const GoldenExport& golden = GetParam();
  const CommandOutput run = RunCommand(ExportTo(golden.to, golden.model, golden.layout,
                                                {"--seq-len", "8192", "--global-batch", "2048"}));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  ExpectGolden(golden.file, run.out);
}

INSTANTIATE_TEST_SUITE_P(
    Each, ExportMatches,
    testing::Values(
        GoldenExport{"torchtitan", "llama-3-405b", "tp8.pp16.dp8.vpp4.zero3.sp1.rc=full",
                     "export_torchtitan_llama3_405b.py"},
        GoldenExport{"megatron-bridge", "llama-3-70b",
                     "tp4.pp4.dp4.mb2.zero1.sp1.rc=mlp+core_attn.stages=18+2x22+18",
                     "export_bridge_llama3_70b.sh"},
        GoldenExport{"accelerate", "llama-3-70b", "tp2.pp1.cp2.dp16.zero3.rc=full.hs=8",
                     "export_accelerate_llama3_70b.yaml"},
        GoldenExport{"deepspeed", "llama-3-70b", "tp1.pp1.dp64.mb2.zero3.rc=full.offload=opt+param",
                     "export_deepspeed_llama3_70b.json"},
        GoldenExport{"verl", "llama-3-70b", "tp4.pp4.dp4.mb2.zero1.sp1.rc=full.offload=opt",
                     "export_verl_llama3_70b_megatron.sh"},
        GoldenExport{"verl", "llama-3-8b", "tp1.cp2.pp1.dp16.zero3.rc=full.hs=8",
                     "export_verl_llama3_8b_fsdp.sh"}),
    [](const auto& test) { return std::to_string(test.index); });

struct GoldenLaunch {
  const char* to;
  const char* layout;
  const char* file;
  std::vector<std::string> more;
  const char* global_batch = "256";
};

class ExportLaunches : public testing::TestWithParam<GoldenLaunch> {};

TEST_P(ExportLaunches, AsInTheGoldenFile) {
  const GoldenLaunch& golden = GetParam();
  std::vector<std::string> more = {"--seq-len", "8192", "--global-batch", golden.global_batch};
  more.insert(more.end(), golden.more.begin(), golden.more.end());
  const CommandOutput run = RunCommand(ExportTo(golden.to, "llama-3-8b", golden.layout, more));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  ExpectGolden(golden.file, run.out);
}

INSTANTIATE_TEST_SUITE_P(
    Each, ExportLaunches,
    testing::Values(
        GoldenLaunch{
            "megatron", "tp4.pp2.dp4.zero1.sp1", "launch_megatron_srun.sh", {"--launch", "srun"}},
        GoldenLaunch{"megatron",
                     "tp4.pp2.dp9.zero1.sp1",
                     "launch_megatron_sbatch_gb200.sh",
                     {"--launch", "sbatch", "--cluster", "gb200", "--gpus-per-node", "4"},
                     "288"},
        GoldenLaunch{"ms-swift",
                     "tp4.pp2.dp3.zero1.sp1",
                     "launch_swift_sbatch_uneven.sh",
                     {"--launch", "sbatch", "--gpus-per-node", "16"},
                     "96"},
        GoldenLaunch{"accelerate",
                     "tp1.pp1.dp16.zero3.rc=full",
                     "launch_accelerate_sbatch.sh",
                     {"--launch", "sbatch"}},
        GoldenLaunch{"deepspeed",
                     "tp1.pp1.dp16.zero3.rc=full",
                     "launch_deepspeed_torchrun.sh",
                     {"--launch", "torchrun"}},
        GoldenLaunch{
            "verl", "tp1.pp1.dp16.zero3.rc=full", "launch_verl_srun.sh", {"--launch", "srun"}}),
    [](const auto& test) { return std::to_string(test.index); });

TEST(ExportCommand, FillsInATemplateOfYours) {
  const std::string path = testing::TempDir() + "/template.sbatch";
  std::ofstream(path) << "#!/bin/sh\n#SBATCH -N {nodes} --gres=gpu:{gpus_per_node}\n{env}\n"
                         "srun ${EXTRA} {command}\n";
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--template", path, "--format", "json"});
    return RunCommand(ExportTo("megatron", "llama-3-8b", "tp4.pp2.dp2.zero1.sp1", more));
  };
  const CommandOutput run = with({"--launch", "sbatch"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json answer = json::parse(run.out);
  EXPECT_EQ(answer["launch"], "sbatch");
  EXPECT_EQ(answer["program"], json({"pretrain_gpt.py"}));
  EXPECT_EQ(answer["arguments"][0], "--tensor-model-parallel-size");
  EXPECT_THAT(answer["script"].get<std::string>(),
              testing::AllOf(HasSubstr("#SBATCH -N 2 --gres=gpu:8\nexport CUDA_DEVICE"),
                             HasSubstr("\nsrun ${EXTRA} bash -c 'exec torchrun")));
  EXPECT_EQ(with({"--launch", "srun"}).exit_code, 2);
  std::ofstream(path) << "#!/bin/sh\n#SBATCH -p {partition}\n{command}\n";
  const CommandOutput unknown = with({"--launch", "sbatch"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(
      unknown.err + unknown.out,
      HasSubstr("--template {partition}: must be {command}, {nodes}, {gpus_per_node}, {env} or "
                "{segment}"));
}

TEST(ExportCommand, TorchtitanIsPython) {
  if (std::system("python3 -c '' 2>/dev/null") != 0) GTEST_SKIP() << "there is no python3";
  for (const char* layout : {"tp2.pp2.dp4.mb2.zero3.sp1.rc=selective", "tp1.pp1.dp8",
                             "tp1.pp2.dp4.vpp4.zero2.sched=breadth_first"}) {
    const CommandOutput run = RunCommand(ExportTo("torchtitan", "llama-2-7b", layout));
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const std::string path = testing::TempDir() + "/export.py";
    std::ofstream(path) << run.out;
    const std::string check =
        "python3 -c \"import ast, sys; ast.parse(open(sys.argv[1]).read())\" ";
    EXPECT_EQ(std::system((check + path).c_str()), 0) << run.out;
  }
}

TEST(ExportCommand, SaysWhatItTakesForASequenceAndABatchThatAreNotSaid) {
  const auto arguments = ExportTo("megatron", "llama-3-8b", "tp2.pp2.dp4.mb2.zero1.sp1");
  const CommandOutput run = RunCommand(arguments);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err,
            "note: no sequence length is given: 4,096 tokens are assumed\n"
            "note: no global batch is given: 16 sequences a step are assumed, a micro-batch for "
            "every rank of dp and pp\n");
  std::vector<std::string> as_json = arguments;
  as_json.insert(as_json.end(), {"--format", "json"});
  const json answer = json::parse(RunCommand(as_json).out);
  EXPECT_EQ(answer["seq_len"], 4096);
  EXPECT_EQ(answer["global_batch"], 16);
  EXPECT_EQ(answer["notes"][0], "no sequence length is given: 4,096 tokens are assumed");
  EXPECT_EQ(answer["notes"].size(), 2u);
  const CommandOutput said = RunCommand(ExportTo("megatron", "llama-3-8b", "tp2.pp2.dp4.zero1.sp1",
                                                 {"--seq-len", "8k", "--global-batch", "64"}));
  EXPECT_EQ(said.err, "");
  EXPECT_EQ(RunCommand(ExportTo("megatron", "llama-3-8b", "dp8", {"--seq-len", "0"})).exit_code, 2);
}

TEST(ExportCommand, TakesTheNameOfAProfile) {
  const auto run_for = [](const char* to) {
    return RunCommand(
        ExportTo(to, "llama-3-8b", "dp8.zero3", {"--seq-len", "8k", "--global-batch", "64"}));
  };
  const CommandOutput own = run_for("accelerate");
  EXPECT_EQ(own.err, "");
  const CommandOutput profile = run_for("hf-fsdp2");
  EXPECT_EQ(profile.out, own.out);
  EXPECT_EQ(profile.err, "note: --to hf-fsdp2 is taken as accelerate; axolotl may be meant too\n");
  EXPECT_EQ(run_for("DeepSpeed").err, "");
  EXPECT_THAT(run_for("llama-factory").err, HasSubstr("is taken as llamafactory\n"));
  const CommandOutput unknown = run_for("torchtune");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("torchtune: must be megatron, megatron-bridge, torchtitan"));
}

TEST(ExportCommand, RefusesAnOptionWithoutAName) {
  const CommandOutput run =
      RunCommand(ExportTo("megatron", "llama-3-8b", "tp2.pp1.dp4.sp1", {"--loss", "chunked:8"}));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err,
              HasSubstr("--loss chunked:8: Megatron-LM has no flag for it; must be plain"));
}

TEST(ExportCommand, MegatronIsAShellScript) {
  const CommandOutput run = RunCommand(ExportTo("megatron", "llama-3-8b", "tp2.pp2.dp2.sp1"));
  const std::string path = testing::TempDir() + "/export.sh";
  std::ofstream(path) << run.out;
  EXPECT_EQ(std::system(("bash -n " + path).c_str()), 0) << run.out;
}

TEST(ExportCommand, JsonHoldsTheText) {
  const CommandOutput run =
      RunCommand(ExportTo("megatron", "llama-3-8b", "tp2.pp2.dp2.mb2.sp1", {"--format", "json"}));
  const json answer = json::parse(run.out);
  EXPECT_EQ(answer["global_batch"], 8);
  EXPECT_THAT(answer["text"].get<std::string>(), HasSubstr("--tensor-model-parallel-size 2"));
}

// A cluster file as its author writes it.
std::string WriteCluster(const char* name, const char* preset, int devices_per_node) {
  json cluster = json::parse(RunCommand({"list", "clusters", preset}).out);
  cluster["devices_per_node"] = devices_per_node;
  std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path) << cluster;
  return path;
}

TEST(ExportCommand, TakesTheRanksOfANodeFromTheCluster) {
  const std::string four = WriteCluster("export_nodes_of_4.json", "h100", 4);
  const auto run = [&](std::vector<std::string> more) {
    return RunCommand(ExportTo("megatron", "llama-3-8b", "tp2.pp2.dp4.sp1", std::move(more))).out;
  };
  EXPECT_THAT(run({}), HasSubstr("--nnodes 2 --nproc-per-node 8 "));
  EXPECT_THAT(run({"--cluster", "h100"}), HasSubstr("--nnodes 2 --nproc-per-node 8 "));
  EXPECT_THAT(run({"--cluster", four}), HasSubstr("--nnodes 4 --nproc-per-node 4 "));
  EXPECT_THAT(run({"--cluster", four, "--gpus-per-node", "16"}),
              HasSubstr("--nnodes 1 --nproc-per-node 16 "));
}

TEST(ExportCommand, AsksForTheDevicesOfAHostWhereTheClusterDoesNotTell) {
  const auto arguments = ExportTo("megatron", "llama-3-8b", "tp2.pp1.dp4.sp1",
                                  {"--cluster", "gb200", "--format", "json"});
  const CommandOutput run = RunCommand(arguments);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(json::parse(run.out)["error"]["field"], "gpus_per_node");
}

TEST(ExportCommand, ExportsWhatRecommendRanksOnPartlyFilledNodes) {
  const CommandOutput ranked =
      RunCommand({"recommend", "--model", "llama-3-8b", "--cluster", "h100", "--gpus", "12",
                  "--seq-len", "4096", "--global-batch", "96", "--top", "5", "--format", "json"});
  const json answer = json::parse(ranked.out);
  EXPECT_THAT(
      answer["notes"].dump(),
      HasSubstr("12 devices fill nodes of 8 only partly: the last of 2 nodes has 4 in use"));
  ASSERT_EQ(answer["layouts"].size(), 5u);
  for (const json& entry : answer["layouts"]) {
    const std::string layout = entry["layout"];
    const CommandOutput run = RunCommand(ExportTo("megatron", "llama-3-8b", layout.c_str(),
                                                  {"--cluster", "h100", "--global-batch", "96"}));
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("processes=4"));
    const std::string path = testing::TempDir() + "/export_partly.sh";
    std::ofstream(path) << run.out;
    EXPECT_EQ(std::system(("bash -n " + path).c_str()), 0) << run.out;
  }
}

TEST(ExportCommand, NamesTheKeysThatItLeftAside) {
  json config = json::parse(RunCommand({"list", "models", "llama-3.2-1b"}).out);
  config["residual_twist"] = 0.5;
  const std::string path = testing::TempDir() + "/twisted.json";
  std::ofstream(path) << config;
  const CommandOutput run = RunCommand(ExportTo("megatron", path.c_str(), "tp1.pp1.dp8"));
  EXPECT_THAT(run.out, HasSubstr("left aside: residual_twist;"));
  EXPECT_THAT(run.out, HasSubstr("--use-rope-scaling --rope-scaling-factor 32"));
  const CommandOutput ranked =
      RunCommand({"recommend", "--model", path, "--cluster", "h100", "--gpus", "8", "--seq-len",
                  "4096", "--global-batch", "64"});
  EXPECT_THAT(ranked.out,
              testing::AllOf(HasSubstr("note: config.json has keys that the planner does not "),
                             HasSubstr("residual_twist")));
}

TEST(ExportCommand, RefusesWhatTheTargetLacks) {
  const CommandOutput run =
      RunCommand(ExportTo("torchtitan", "llama-3-8b", "tp1.pp1.dp8.zero1", {"--format", "json"}));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("--layout zero1: torchtitan shards with FSDP or not at all"));
  EXPECT_EQ(json::parse(run.out)["error"]["field"], "layout");
  EXPECT_THAT(RunCommand(ExportTo("jax", "llama-3-8b", "tp1.pp1.dp8")).err,
              HasSubstr("--to jax: must be "));
}

}  // namespace
}  // namespace meshwright::cli
