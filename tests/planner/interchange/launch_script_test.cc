#include "planner/interchange/launch_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/text/field_error.h"
#include "planner/interchange/export.h"
#include "planner/interchange/import.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

ExportedJob JobOf(std::vector<std::string> words) {
  ExportedJob job;
  job.program = {"train.py"};
  job.argument_lines = {std::move(words)};
  job.placed = FillNodes(16, 8);
  return job;
}

std::string Script(const ExportedJob& job, LaunchForm form, const char* batch_template = "") {
  const auto script = LaunchScript(job, {.form = form, .batch_template = batch_template});
  return script.ok() ? *script : std::string(script.status().message());
}

TEST(LaunchScript, QuotesEveryWord) {
  EXPECT_EQ(ShellQuoted("--a=b,c:d/e@f+g%h.i_j"), "--a=b,c:d/e@f+g%h.i_j");
  EXPECT_EQ(ShellQuoted(""), "''");
  EXPECT_EQ(ShellQuoted("a b"), "'a b'");
  EXPECT_EQ(ShellQuoted("x='a|b'"), "\"x='a|b'\"");
  EXPECT_EQ(ShellQuoted("$(touch owned)'"), "'$(touch owned)'\\'''");
}

// The words that a shell makes of a script whose launcher prints its arguments.
std::string Ran(const std::string& script) {
  const std::string folder = testing::TempDir();
  std::ofstream(folder + "/launch.sh") << script;
  const std::string command =
      "cd '" + folder +
      "' && { echo 'shift=0; for w in \"$@\"; do printf \"<%s>\" \"$w\"; done' > torchrun; "
      "chmod +x torchrun; echo 'while [ \"${1#-}\" != \"$1\" ]; do shift; done; "
      "SLURM_NODEID=1 \"$@\"' > srun; chmod +x srun; echo 'echo head' > scontrol; "
      "chmod +x scontrol; } && PATH=\"$PWD:$PATH\" SLURM_JOB_NODELIST=n bash launch.sh 2>&1 "
      "> words.txt";
  if (std::system(command.c_str()) != 0) return "the script failed";
  std::ifstream words(folder + "/words.txt");
  return {std::istreambuf_iterator<char>(words), std::istreambuf_iterator<char>()};
}

TEST(LaunchScript, ReachesTheProgramWordByWordInEveryForm) {
  const std::vector<std::string> hostile = {"--a", "$HOME `id` $(id)", "it's \"q\"", "\\", "a\nb",
                                            "*",   "{command}"};
  std::string wanted = "<train.py>";
  for (const std::string& word : hostile) wanted += "<" + word + ">";
  for (const LaunchForm form : {LaunchForm::kTorchrun, LaunchForm::kSrun, LaunchForm::kSbatch}) {
    EXPECT_THAT(Ran(Script(JobOf(hostile), form)), testing::EndsWith(wanted));
  }
}

TEST(LaunchScript, StartsFewerProcessesOnTheLastNodeOfAnAllocation) {
  ExportedJob job = JobOf({"--x"});
  job.placed = FillNodes(12, 8);
  EXPECT_THAT(Ran(Script(job, LaunchForm::kSrun)), HasSubstr("<--nproc-per-node><4>"));
}

TEST(LaunchScript, WritesFilesThatNoLineOfTheirsEnds) {
  ExportedJob job = JobOf({"f.yaml"});
  job.files = {{"f.yaml", "a: $HOME\nEND_OF_FILE\nb: 1\n"}};
  EXPECT_THAT(Script(job, LaunchForm::kTorchrun),
              HasSubstr("cat >f.yaml <<'END_OF_FILE_'\na: $HOME\nEND_OF_FILE\nb: 1\n"
                        "END_OF_FILE_\n"));
}

TEST(LaunchScript, FillsInATemplateAndRefusesUnknownPlaceholders) {
  const ExportedJob job = JobOf({"--x"});
  EXPECT_EQ(
      Script(job, LaunchForm::kSbatch, "{nodes} ${nodes} {a,b} { x } {gpus_per_node}{command}")
          .substr(0, 30),
      "2 ${nodes} {a,b} { x } 8bash -");
  const auto unknown =
      LaunchScript(job, {.form = LaunchForm::kSbatch, .batch_template = "{command}\n{account}"});
  EXPECT_EQ(FieldOf(unknown.status()), "template");
  EXPECT_THAT(std::string(unknown.status().message()),
              HasSubstr("{account}: must be {command}, {nodes}, {gpus_per_node}, {env} or "
                        "{segment}"));
  EXPECT_THAT(Script(job, LaunchForm::kSbatch, "#!/bin/sh\n"), HasSubstr("must have {command}"));
}

TEST(LaunchScript, AsksForARackOnlyWhereNodesAreJoined) {
  ExportedJob job = JobOf({"--x"});
  job.placed = FillNodes(96, 4);
  EXPECT_THAT(Script(job, LaunchForm::kSbatch),
              AllOf(Not(HasSubstr("#SBATCH --segment")), HasSubstr("#SBATCH --output=%x-%j.log")));
  EXPECT_THAT(*LaunchScript(job, {.form = LaunchForm::kSbatch, .joined_nodes = 18}),
              HasSubstr("#SBATCH --segment=12\n"));
}

struct LaunchedExport {
  ExportTarget target;
  const char* layout;
};

class LaunchRoundTrip : public testing::TestWithParam<LaunchedExport> {};

TEST_P(LaunchRoundTrip, IsTheSameLayoutInEveryForm) {
  const auto& [target, layout] = GetParam();
  const ExportJob job = {.model = FindModel("llama-3-8b").value(),
                         .training = {.seq_len = 4096, .global_batch = 64},
                         .layout = MakeLayout(layout)};
  const auto exported = MakeExportedJob(target, job);
  ASSERT_TRUE(exported.ok()) << exported.status();
  for (const LaunchForm form : {LaunchForm::kTorchrun, LaunchForm::kSrun, LaunchForm::kSbatch}) {
    ImportQuestion question;
    question.files = {{"run.sh", Script(*exported, form)}};
    question.environment["MODEL"] = question.environment["RECIPE"] = "m";
    question.devices = job.layout.devices();
    if (target == ExportTarget::kAutomodel || target == ExportTarget::kTorchtitan) {
      question.further.push_back({"layers", "32"});
    }
    const auto imported = Import(**FindFramework("to", ExportTargetName(target)), question);
    ASSERT_TRUE(imported.ok()) << imported.status();
    ASSERT_TRUE(imported->layout) << question.files.front().text;
    EXPECT_EQ(FormatLayout(*imported->layout), FormatLayout(job.layout))
        << question.files.front().text;
    for (const ImportedEntry& entry : imported->entries) {
      EXPECT_NE(entry.status, EntryStatus::kRejected)
          << entry.name << " " << entry.value << ": " << entry.hint;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Each, LaunchRoundTrip,
    testing::Values(LaunchedExport{ExportTarget::kMegatron, "tp2.pp2.dp4.mb2.zero1.sp1"},
                    LaunchedExport{ExportTarget::kMegatronBridge, "tp2.pp2.dp4.mb2.zero1.sp1"},
                    LaunchedExport{ExportTarget::kTorchtitan, "tp2.pp1.dp8.mb2.zero3.sp1"},
                    LaunchedExport{ExportTarget::kAccelerate, "tp2.pp1.dp8.mb2.zero3.rc=full"},
                    LaunchedExport{ExportTarget::kDeepspeed, "tp1.pp1.dp16.mb2.zero3.rc=full"},
                    LaunchedExport{ExportTarget::kLlamaFactory, "tp1.pp1.dp16.zero2"},
                    LaunchedExport{ExportTarget::kAxolotl, "tp2.pp1.dp8.mb2.zero3.rc=full"},
                    LaunchedExport{ExportTarget::kSwift, "tp2.pp2.dp4.mb2.zero1.sp1"},
                    LaunchedExport{ExportTarget::kVerl, "tp2.pp2.dp4.mb2.zero1.sp1"},
                    LaunchedExport{ExportTarget::kAutomodel, "tp2.pp1.dp8.mb2.zero3"},
                    LaunchedExport{ExportTarget::kNanotron, "tp2.pp2.dp4.mb2.zero1.sp1"}),
    [](const auto& test) { return std::to_string(test.index); });

}  // namespace
}  // namespace meshwright::planner
