// What every command prints with --format json is what docs/schema says.
#include "tests/tools/json_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "tests/executor/some_slice.h"
#include "tests/server/server_fixture.h"
#include "tests/tools/command_runner.h"

namespace meshwright::cli {
namespace {

using nlohmann::json;

// Runs a command and holds every line, or all, of what it printed to a schema.
json ExpectDescribed(const std::string& schema, std::vector<std::string> arguments,
                     int exit_code = 0) {
  arguments.insert(arguments.end(), {"--format", "json"});
  const CommandOutput run = RunCommand(arguments);
  EXPECT_EQ(run.exit_code, exit_code) << run.err;
  json document = json::parse(run.out, nullptr, false);
  EXPECT_FALSE(document.is_discarded()) << run.out;
  EXPECT_EQ(SchemaProblems(schema, document), "") << run.out;
  return document;
}

std::vector<std::string> Ask(const char* command, std::vector<std::string> more) {
  std::vector<std::string> arguments = {command, "--model",        "llama-3-70b", "--cluster",
                                        "h100",  "--gpus",         "64",          "--seq-len",
                                        "4096",  "--global-batch", "512"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(JsonSchema, DescribesRecommendations) {
  const json fits =
      ExpectDescribed("recommend", Ask("recommend", {"--mine", "tp8.pp4.dp2.mb1.zero1.sp1"}));
  EXPECT_EQ(fits["schema_version"], 1);
  EXPECT_FALSE(fits["worth_a_trial"].empty());
  ExpectDescribed("recommend", Ask("recommend", {"--mine", "tp3.pp4.dp2"}));
  ExpectDescribed("recommend", Ask("recommend", {"--where", "tp <= 4", "--time-limit", "1000"}));
  ExpectDescribed("recommend",
                  {"recommend", "--model", "llama-3-405b", "--cluster", "a100-40", "--gpus", "8",
                   "--seq-len", "4096", "--global-batch", "8"},
                  3);
}

TEST(JsonSchema, DescribesEstimates) {
  ExpectDescribed("estimate", Ask("estimate", {"--layout", "tp8.pp4.dp2.mb1.zero1.sp1"}));
  ExpectDescribed("estimate", Ask("estimate", {"--layout", "tp4.pp4.dp4.mb2.zero1.sp1"}), 3);
}

TEST(JsonSchema, DescribesComparisons) {
  ExpectDescribed("compare", Ask("compare", {"tp8.pp4.dp2.mb1.zero1.sp1", "tp3.pp4.dp2",
                                             "tp4.pp4.dp4.mb2.zero1.sp1"}));
  ExpectDescribed("compare", Ask("compare", {"tp3.pp4.dp2"}), 3);
}

TEST(JsonSchema, DescribesSizes) {
  std::vector<std::string> range = Ask("scale", {});
  range[6] = "8..64";
  ExpectDescribed("scale", range);
  range[0] = "recommend";
  range.insert(range.end(), {"--tokens", "1T", "--within", "1000d", "--price", "2.5/h"});
  ExpectDescribed("scale", range);
}

TEST(JsonSchema, DescribesFrontsAndGroups) {
  ExpectDescribed("recommend", Ask("recommend", {"--objective", "energy", "--pareto", "mfu,memory",
                                                 "--best-per", "tp,sched"}));
  std::vector<std::string> range = Ask("recommend", {"--objective", "cost"});
  range[6] = "8..64";
  ExpectDescribed("scale", range);
}

TEST(JsonSchema, DescribesStudies) {
  ExpectDescribed("study", Ask("study", {}));
  ExpectDescribed("study", Ask("study", {"--where", "tp = 2"}));
}

TEST(JsonSchema, DescribesShortestRuns) {
  ExpectDescribed("fastest",
                  {"fastest", "--model", "llama-2-7b", "--cluster", "h100", "--gpus", "8..16",
                   "--seq-len", "4096", "--tokens", "1T", "--critical-batch", "16"});
}

TEST(JsonSchema, DescribesWhatFits) {
  ExpectDescribed("fit", Ask("fit", {"--where", "tp = 2"}));
  ExpectDescribed("fit", Ask("fit", {"--layout", "tp8.pp4.dp2.mb1.zero1.sp1"}));
}

TEST(JsonSchema, DescribesListsLaunchesAndSchedules) {
  for (const char* kind : {"models", "clusters", "profiles"}) {
    ExpectDescribed("list", {"list", kind});
  }
  ExpectDescribed("export", {"export", "--to", "megatron", "--model", "llama-3-8b", "--layout",
                             "tp2.pp2.dp4", "--seq-len", "4096", "--global-batch", "64"});
  const std::string script = testing::TempDir() + "/import.sh";
  std::ofstream(script) << "torchrun --nnodes 1 --nproc-per-node 8 pretrain_gpt.py --foo 1 "
                           "--tensor-model-parallel-size 2 --micro-batch-size 1 --lr 1e-4\n";
  ExpectDescribed("import", {"import", "--from", "megatron", script}, 2);
  ExpectDescribed("schedule", {"schedule", "--layout", "tp1.pp4.dp1", "--micro-batches", "8"});
  ExpectDescribed("schedule", {"schedule", "--layout", "tp1.pp4.dp1", "--model", "llama-3-8b",
                               "--cluster", "h100", "--seq-len", "4096", "--global-batch", "8"});
}

TEST(JsonSchema, DescribesErrors) {
  ExpectDescribed("error", Ask("recommend", {"--framework", "megatrn"}), 2);
  ExpectDescribed("error", Ask("estimate", {"--layout", "tp3.pp4.dp2"}), 2);
}

TEST(JsonSchema, DescribesMeasurements) {
  const std::string folder = testing::TempDir() + "/json-schema-" + std::to_string(getpid());
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/runs.csv")
      << "source,sweep,model,layers,hidden,ffn,heads,kv_heads,vocab,seq,gpu,gpu_mem_gib,gpus,tp,pp,"
         "cp,dp,mbs,gbs,precision,attn,seq_parallel,zero_stage,framework,outcome,step_time_s\n"
         "us,a,m,32,4096,14336,32,8,128256,4096,H100,80,8,2,2,1,2,1,32,bf16,flash,1,1,megatron,ok,"
         "5\n"
         "us,a,m,32,4096,14336,32,8,128256,4096,H100,80,8,4,1,1,2,1,32,bf16,flash,1,1,megatron,ok,"
         "5.5\n";
  ExpectDescribed("validate", {"validate", "--measurements", folder + "/runs.csv"});
  ExpectDescribed("replay", {"replay", "--measurements", folder + "/runs.csv"});
  const json fitted = ExpectDescribed(
      "calibrate", {"calibrate", "--measurements", folder + "/runs.csv", "--cluster", "h100",
                    "--framework", "megatron", "-o", folder + "/fitted.json"});
  EXPECT_EQ(fitted["cluster"]["sources"], json::array({"llm-foundry", "us"}));
  std::filesystem::remove_all(folder);
}

// A result in which nothing is left out.
trial::TrialResult FullResult(const trial::TrialPlan& plan, const trial::TrialRunnerOptions&) {
  trial::TrialResult result = server::Measured(plan);
  result.step_times_s = {0.5, 0.25};
  result.step_interval = trial::MedianInterval{.low_s = 0.125, .high_s = 0.5};
  result.stop_reason = trial::StopReason::kBeaten;
  result.slice = trial::SomeSlice();
  result.losses = {10.5};
  result.gradient_norms = {1.5};
  result.ranks[0].device_memory = trial::DeviceMemoryUse{
      .peak_reserved_bytes = 5, .allocator_retries = 6, .communicator_bytes = 7};
  result.ranks[0].communication = {{.group = "replicas"}};
  result.mfu_causal = 0.25;
  result.peak_flops = 9e12;
  result.oom = trial::OomDetail{1, 1, 2, 3, 4};
  result.failed_agent = "b";
  return result;
}

class SweepSchemaTest : public server::ServerFixture {
 protected:
  json ExpectDescribedThere(const std::string& schema, std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--server", server_->address()});
    return ExpectDescribed(schema, arguments);
  }
  std::vector<std::string> StartOf(const char* name) {
    return {"sweep",     "start",     "--model",        "tinystories-15m",
            "--cluster", "local-cpu", "--gpus",         "4",
            "--seq-len", "64",        "--trials",       "2",
            "--name",    name,        "--global-batch", "8"};
  }
};

TEST_F(SweepSchemaTest, DescribesSweepsTheirTrialsEventsAndAgents) {
  ExpectDescribedThere("sweep", StartOf("left"));
  ExpectDescribedThere("sweep", {"sweep", "cancel", "left"});
  ExpectDescribedThere("sweep", StartOf("ran"));
  const server::TestAgent agent(server_->address(), "a", FullResult);
  const CommandOutput watched =
      RunCommand({"sweep", "watch", "ran", "--server", server_->address(), "--format", "json"});
  EXPECT_EQ(watched.exit_code, 0) << watched.err;
  std::istringstream lines(watched.out);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_EQ(SchemaProblems("sweep_watch", json::parse(line)), "") << line;
  }
  const json shown = ExpectDescribedThere("sweep_show", {"sweep", "show", "ran"});
  EXPECT_TRUE(shown["trials"][0]["measured"].contains("slice"));
  ExpectDescribedThere("sweep_plan", {"sweep", "plan", "ran"});
  for (const char* number : {"1", "9"}) {
    ExpectDescribedThere("sweep_why", {"sweep", "show", "ran", "--why", number});
  }
  ExpectDescribedThere("sweep_list", {"sweep", "list"});
  ExpectDescribedThere("sweep", {"sweep", "rerun", "ran", "--name", "again"});
  ExpectDescribedThere("sweep_delete", {"sweep", "delete", "again", "--force"});
  ExpectDescribedThere("list_agents", {"list", "agents"});
  const json past = ExpectDescribedThere("history", {"history", "--where", "outcome = ok"});
  EXPECT_FALSE(past["trials"].empty());
  const CommandOutput refused = RunCommand(
      {"history", "--where", "colour = 1", "--server", server_->address(), "--format", "json"});
  EXPECT_EQ(refused.exit_code, kExitBadInput);
  EXPECT_THAT(refused.err, testing::HasSubstr("--where"));
  ExpectDescribedThere("list_agents", {"agents", "list"});
  ExpectDescribedThere("standby_show", {"standby", "show"});
  ExpectDescribedThere("agents_drain", {"agents", "drain", "a"});
  ExpectDescribedThere("agents_drain", {"agents", "resume", "a"});
  const std::string db = folder_ + "/sweeps.db";
  ExpectDescribed("db_check", {"db", "check", "--db", db});
  const std::string copy = folder_ + "/copy.db";
  ExpectDescribed("db_backup", {"db", "backup", "--db", db, "--to", copy});
  ExpectDescribed("db_compact", {"db", "compact", "--db", copy, "--keep-events-days", "0"});
  ExpectDescribed("token", {"token", "create", "--db", db, "--role", "agent", "--agent", "a"});
  ExpectDescribed("token", {"token", "create", "--db", db, "--role", "viewer", "--expires", "1d"});
  ExpectDescribed("token_revoke", {"token", "revoke", "--db", db, "a"});
  ExpectDescribed("token_list", {"token", "list", "--db", db});
  // Where these tests run there is no worker beside the program, which is a problem.
  const CommandOutput examined =
      RunCommand({"doctor", "--server", server_->address(), "--format", "json"});
  EXPECT_EQ(examined.exit_code, kExitFailed) << examined.err;
  EXPECT_EQ(SchemaProblems("doctor", json::parse(examined.out)), "") << examined.out;
  EXPECT_THAT(examined.out, testing::HasSubstr("answers, version"));
}

void ExpectDescriptions(const json& schema, const std::string& path) {
  if (schema.is_object() && schema.contains("properties")) {
    for (const auto& [key, property] : schema["properties"].items()) {
      EXPECT_TRUE(property.contains("description")) << path << "." << key;
    }
  }
  if (!schema.is_structured()) return;
  for (const auto& [key, child] : schema.items()) {
    ExpectDescriptions(child, absl::StrCat(path, ".", key));
  }
}

TEST(JsonSchema, DescribesEveryKeyInWords) {
  const std::vector<std::string> names = SchemaNames();
  EXPECT_GT(names.size(), 10u);
  for (const std::string& name : names) ExpectDescriptions(ClosedSchema(name), name);
}

TEST(JsonSchema, RefusesKeysThatItDoesNotName) {
  json document = {{"schema_version", 1}, {"models", json::array()}};
  EXPECT_EQ(SchemaProblems("list", document), "");
  document["pets"] = 1;
  EXPECT_NE(SchemaProblems("list", document), "");
}

}  // namespace
}  // namespace meshwright::cli
