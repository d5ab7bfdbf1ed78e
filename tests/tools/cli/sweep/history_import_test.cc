// `meshwright history import`, and what `history` shows of it, against a server in this process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "nlohmann/json.hpp"
#include "planner/measurement/csv.h"
#include "tests/planner/changed_options.h"
#include "tests/server/server_fixture.h"
#include "tests/tools/command_runner.h"
#include "tests/tools/golden.h"
#include "tests/tools/json_schema.h"

namespace meshwright::cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Invented runs of an invented model.
constexpr char kImportHeader[] =
    "source,sweep,model,layers,hidden,ffn,heads,kv_heads,vocab,seq,gpu,gpus,tp,pp,dp,mbs,gbs,"
    "framework,outcome,step_time_s,mfu,peak_mem_gib,notes\n";
constexpr char kImportedRuns[] =
    "a lab,table "
    "1,llama-x,16,2048,5632,16,16,32000,2048,H100,8,2,1,4,1,64,megatron-lm,ok,2.5,,20,\n"
    "a lab,table 1,llama-x,16,2048,5632,16,16,32000,2048,H100,8,1,1,8,1,64,megatron-lm,ok,2,,30,\n"
    "a lab,table 1,llama-x,16,2048,5632,16,16,32000,2048,H100,8,1,1,8,8,64,megatron-lm,oom,,,,\n"
    "a lab,table 1,llama-x,16,2048,5632,16,16,32000,2048,H100,8,1,2,4,1,64,,error,,,,\n";
constexpr char kBad[] =
    "a lab,table 2,llama-x,16,2048,5632,16,16,32000,2048,X9,8,2,1,4,1,64,megatron-lm,ok,2.5,,20,\n"
    "a lab,table 2,llama-x,16,2048,5632,16,16,32000,2048,H100,8,4,1,2,1,64,megatron-lm,ok,3,,,\n"
    "a lab,table 2,llama-x,16,2048,5632,16,16,32000,2048,H100,8,2,1,4,one,64,megatron-lm,ok,3,,,\n";

class HistoryImportTest : public server::ServerFixture {
 protected:
  std::string Write(const std::string& name, const std::string& rows) const {
    std::string path = folder_ + "/" + name;
    std::ofstream(path) << kImportHeader << rows;
    return path;
  }
  CommandOutput History(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "history");
    arguments.insert(arguments.end(), {"--server", server_->address()});
    return RunCommand(arguments);
  }
  json HistoryJson(std::vector<std::string> arguments, const std::string& schema) {
    arguments.insert(arguments.end(), {"--format", "json"});
    const CommandOutput run = History(arguments);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    json document = json::parse(run.out);
    EXPECT_EQ(SchemaProblems(schema, document), "") << run.out;
    return document;
  }
  // Without where the test's files are.
  std::string Shown(std::string text) const {
    for (size_t at; (at = text.find(folder_ + "/")) != std::string::npos;) {
      text.erase(at, folder_.size() + 1);
    }
    return text;
  }
};

TEST_F(HistoryImportTest, RowsAreCountedAndListedBesideTrials) {
  const std::string runs = Write("runs.csv", kImportedRuns);
  const std::string bad = Write("bad.csv", kBad);
  std::string text;
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"import", runs}, {"import", runs, bad}, {"import", runs, bad, "--skip-bad"}, {}}) {
    const CommandOutput run = History(arguments);
    text += run.out + run.err;
  }
  ExpectGolden("history_import.txt", Shown(text));
}

TEST_F(HistoryImportTest, SaysHowManyThereAreWhereNotAllAreShown) {
  ASSERT_EQ(History({"import", Write("runs.csv", kImportedRuns)}).exit_code, 0);
  EXPECT_THAT(History({"--limit", "1"}).out, HasSubstr("1 of 4; --limit 0 for all\n"));
  EXPECT_THAT(History({"--limit", "1", "--where", "outcome = ok"}).out, HasSubstr("1 of 2; "));
  for (const char* limit : {"0", "4", "10"}) {
    EXPECT_THAT(History({"--limit", limit}).out, Not(HasSubstr("--limit"))) << limit;
  }
  EXPECT_EQ(HistoryJson({"--limit", "0"}, "history")["trials"].size(), 4u);
  EXPECT_EQ(History({"--limit", "-1"}).exit_code, kExitBadInput);
}

TEST_F(HistoryImportTest, CsvHasAllRowsWithAColumnForEachKey) {
  std::string rows;
  for (int batch = 64; batch < 64 * 13; batch += 64) {  // more than the text shows
    rows += "\"a lab, once\",table 1,llama-x,16,2048,5632,16,16,32000,2048,H100,8,2,1,4,1," +
            std::to_string(batch) + ",megatron-lm,ok,2.5,,20,\n";
  }
  ASSERT_EQ(History({"import", Write("runs.csv", rows)}).exit_code, 0);
  const CommandOutput run = History({"--where", "outcome = ok", "--format", "csv"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const std::vector<planner::CsvRecord> records = planner::ParseCsv(run.out);
  ASSERT_EQ(records.size(), 13u);
  const std::vector<std::string>& header = records.front().cells;
  const auto value = [&](const char* column) {
    const auto found = std::find(header.begin(), header.end(), column);
    return records[1].cells.at(static_cast<size_t>(found - header.begin()));
  };
  EXPECT_EQ(value("origin"), "a lab, once");
  EXPECT_EQ(value("framework"), "megatron-lm");
  EXPECT_EQ(value("tp"), "2");
  EXPECT_EQ(value("dp"), "4");
  EXPECT_EQ(value("rc"), "none");
  EXPECT_EQ(value("outcome"), "ok");
  EXPECT_EQ(value("step_s"), "2.5");
  EXPECT_EQ(value("trial"), "");
  for (const planner::CsvRecord& record : records) EXPECT_EQ(record.cells.size(), header.size());
  EXPECT_EQ(planner::ParseCsv(History({"--format", "csv", "--limit", "2"}).out).size(), 3u);
}

TEST_F(HistoryImportTest, NamesColumnsThatTheFormatHasNot) {
  const std::string path = folder_ + "/columns.csv";
  std::ofstream(path) << "source,model,gpu,gpus,tp,pp,dp,seq,gbs,framework,outcome,step_s,colour\n"
                         "a lab,llama-3-8b,H100,8,2,1,4,2048,64,megatron-lm,ok,2.5,red\n";
  const CommandOutput run = History({"import", path, "--skip-bad"});
  EXPECT_THAT(run.err, HasSubstr("left out what the format has no column for: step_s (nearest: "));
  EXPECT_THAT(run.err, AllOf(HasSubstr("step_time_s"), HasSubstr("colour")));
}

TEST_F(HistoryImportTest, ConditionsTellRunsApartByTheirOptions) {
  std::string rows;
  const std::vector<planner::ChangedOption> options = planner::OptionsOfDenseModels();
  for (const planner::ChangedOption& option : options) {
    rows += "a lab,table 3,llama-x,16,2048,5632,16,16,32000,2048,H100,8,1,1,8,1,64," +
            std::string(option.framework) + ",ok,2,,,\"" + std::string(option.name) + "=" +
            std::string(option.value) + "\"\n";
  }
  const CommandOutput run = History({"import", Write("options.csv", rows)});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const planner::ChangedOption& option : options) {
    const std::string name(option.name);
    const std::string value(option.value);
    const json changed = HistoryJson({"--where", name + " = \"" + value + "\""}, "history");
    ASSERT_EQ(changed["trials"].size(), 1u) << name;
    EXPECT_EQ(changed["trials"][0]["imported"]["notes"], name + "=" + value);
    const json others = HistoryJson({"--where", name + " != \"" + value + "\""}, "history");
    EXPECT_EQ(others["trials"].size(), options.size() - 1) << name;
  }
}

TEST_F(HistoryImportTest, FlagsInFrontOfItAreRefused) {
  for (const std::string flag : {"--server", "--format", "--where"}) {
    const CommandOutput run = RunCommand({"history", flag, "json", "import", "runs.csv"});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, AllOf(HasSubstr(flag), HasSubstr("must come after import")));
  }
  EXPECT_THAT(RunCommand({"history", "import", "--help"}).out, HasSubstr("--skip-bad"));
}

TEST_F(HistoryImportTest, ABadRowOfOneFileLeavesAllFilesOut) {
  const std::string runs = Write("runs.csv", kImportedRuns);
  const std::string bad = Write("bad.csv", kBad);
  const CommandOutput refused = History({"import", runs, bad});
  EXPECT_EQ(refused.exit_code, kExitBadInput);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("2 rows can't be taken"), HasSubstr(bad + ":2: gpu = X9: "),
                    HasSubstr(bad + ":4: mbs = "), Not(HasSubstr(runs + ":"))));
  EXPECT_TRUE(HistoryJson({}, "history")["trials"].empty());
}

TEST_F(HistoryImportTest, JsonIsWhatTheSchemasSay) {
  const std::string runs = Write("runs.csv", kImportedRuns);
  const std::string bad = Write("bad.csv", kBad);
  json answer = HistoryJson({"import", runs, bad, "--skip-bad"}, "history_import");
  EXPECT_EQ(answer["files"][0]["imported"], 4);
  EXPECT_EQ(answer["files"][1]["imported"], 1);
  EXPECT_EQ(answer["files"][1]["refused"][0]["line"], 2);
  EXPECT_EQ(answer["files"][1]["refused"][0]["subject"], "gpu");
  answer = HistoryJson({"import", runs}, "history_import");
  EXPECT_EQ(answer["files"][0]["imported"], 0);
  EXPECT_EQ(answer["files"][0]["known"], 4);
  const json found = HistoryJson(
      {"--where", "source = imported and outcome = ok", "--order-by", "step_s"}, "history");
  ASSERT_EQ(found["trials"].size(), 3u);
  const json& first = found["trials"][0];
  EXPECT_TRUE(first["trial"].is_null());
  EXPECT_EQ(first["step_s"], 2.0);
  EXPECT_EQ(first["imported"]["origin"], "a lab");
  EXPECT_EQ(first["imported"]["sweep"], "table 1");
  EXPECT_EQ(first["imported"]["framework"], "megatron-lm");
}

// What a server's own sweep measured is known to it, and new to a server without that sweep.
TEST_F(HistoryImportTest, WhatASweepExportsCanBeImported) {
  const std::vector<std::string> to = {"--server", server_->address()};
  std::vector<std::string> start = {
      "sweep",    "start", "--name",         "s",         "--model",   "tinystories-15m",
      "--gpus",   "4",     "--cluster",      "local-cpu", "--seq-len", "64",
      "--trials", "2",     "--global-batch", "8"};
  start.insert(start.end(), to.begin(), to.end());
  ASSERT_EQ(RunCommand(start).exit_code, 0);
  const server::TestAgent agent(server_->address(), "a", server::RunAtOnce);
  Watch("sweeps/s");
  const std::string rows = folder_ + "/rows.csv";
  ASSERT_EQ(
      RunCommand({"sweep", "export", "s", "-o", rows, "--server", server_->address()}).exit_code,
      0);
  const json again = HistoryJson({"import", rows}, "history_import");
  EXPECT_EQ(again["files"][0]["known"], again["files"][0]["rows"]);
  const json ran = HistoryJson({"--where", "source = ran"}, "history")["trials"];
  ASSERT_EQ(RunCommand({"sweep", "delete", "s", "--yes", "--server", server_->address()}).exit_code,
            0);
  const json answer = HistoryJson({"import", rows}, "history_import");
  EXPECT_EQ(answer["files"][0]["imported"], answer["files"][0]["rows"]);
  const json imported = HistoryJson({"--where", "source = imported"}, "history")["trials"];
  ASSERT_EQ(ran.size(), imported.size());
  EXPECT_EQ(ran[0]["layout"], imported[0]["layout"]);
  EXPECT_NEAR(ran[0]["mfu"].get<double>(), imported[0]["mfu"].get<double>(), 1e-3);
}

TEST_F(HistoryImportTest, FilesThatAreNoneAreRefused) {
  EXPECT_EQ(History({"import"}).exit_code, kExitBadInput);
  const CommandOutput missing = History({"import", folder_ + "/nowhere.csv"});
  EXPECT_EQ(missing.exit_code, kExitBadInput);
  EXPECT_THAT(missing.err, HasSubstr("nowhere.csv"));
  const std::string path = folder_ + "/pets.csv";
  std::ofstream(path) << "pet\ncat\n";
  const CommandOutput pets = History({"import", path});
  EXPECT_EQ(pets.exit_code, kExitBadInput);
  EXPECT_THAT(pets.err, HasSubstr("pets.csv"));
}

}  // namespace
}  // namespace meshwright::cli
