#include "planner/interchange/shell_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "planner/interchange/config_entry.h"

namespace meshwright::planner {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Returns the entries as "name=value", "?" for unknown variables and "!" for what is conditional.
std::vector<std::string> Launch(const std::string& script, const Variables& environment = {}) {
  std::vector<std::string> texts;
  const auto entries = ReadLaunchEntries({"run.sh", script}, environment);
  if (!entries.ok()) return {std::string(entries.status().message())};
  for (const ConfigEntry& entry : *entries) {
    texts.push_back(absl::StrCat(entry.conditional ? "!" : "", entry.name, "=", entry.value,
                                 entry.unknown_variable.empty() ? "" : "?",
                                 entry.unknown_variable));
  }
  return texts;
}

TEST(ShellScript, ReadsVariablesListsAndQuotes) {
  EXPECT_THAT(Launch("TP=2; NAME='a b'\n"
                     "ARGS=(\n  --tp $TP   # how many\n  --name \"$NAME\"\n)\n"
                     "ARGS+=(\"--fp8-format hybrid\")\n"
                     "torchrun --nnodes=2 train.py ${ARGS[@]} --pp \"${PP:-4}\" \"$@\"\n"),
              ElementsAre("--nnodes=2", "--tp=2", "--name=a b", "--fp8-format=hybrid", "--pp=4"));
}

TEST(ShellScript, MultipliesWholeNumbers) {
  EXPECT_THAT(Launch("N=2\nG=8\ntorchrun train.py --gpus $(($N*$G))\n"), ElementsAre("--gpus=16"));
}

TEST(ShellScript, KnowsNoVariableOfTheEnvironmentUnlessItIsGiven) {
  const std::string script = "torchrun train.py --tp $TP --out $(date) --x `rm -rf /`";
  EXPECT_THAT(Launch(script),
              ElementsAre("--tp=?TP", "--out=?a command's output", "--x=?a command's output"));
  EXPECT_THAT(Launch(script, {{"TP", "4"}}).front(), "--tp=4");
}

TEST(ShellScript, DecidesConditionsOfKnownWordsAlone) {
  const std::string script =
      "DTYPE=fp8\nEXTRA=()\n"
      "if [[ \"$DTYPE\" == \"fp8\" ]]; then\n  EXTRA+=(--fp8)\nelse\n  EXTRA+=(--bf16)\nfi\n"
      "if [ -n \"$KEY\" ]; then\n  EXTRA+=(--wandb)\nfi\n"
      "torchrun train.py \"${EXTRA[@]}\"\n";
  EXPECT_THAT(Launch(script), ElementsAre("--fp8=", "!--wandb="));
}

TEST(ShellScript, ARankDecidesNothing) {
  EXPECT_THAT(Launch("processes=8\n"
                     "if [ \"${NODE_RANK:-0}\" -eq 1 ]; then processes=4; fi\n"
                     "torchrun --nproc-per-node \"$processes\" train.py --a 1\n"),
              ElementsAre("!--nproc-per-node=8?processes", "--a=1"));
}

TEST(ShellScript, TakesTheCommandWithTheMostNames) {
  EXPECT_THAT(
      Launch("python prepare.py --data x\nCMD=\"torchrun train.py --a 1 --b 2\"\nsrun $CMD\n"),
      ElementsAre("--a=1", "--b=2"));
}

TEST(ShellScript, TakesAListOfArgumentsAndOverrides) {
  EXPECT_THAT(Launch("--tp 2 --sp\n--pp=4\n"), ElementsAre("--tp=2", "--sp=", "--pp=4"));
  EXPECT_THAT(Launch("torchrun run.py --recipe r model.a=1 \"model.l='E|(t|)*2'\" +x.y=[a,b]"),
              ElementsAre("--recipe=r", "model.a=1", "model.l=E|(t|)*2", "x.y=[a,b]"));
}

TEST(ShellScript, SkipsHereDocumentsAndRedirections) {
  EXPECT_THAT(Launch("cat > f <<'EOF'\ntorchrun a.py --a 1 --b 2\nEOF\n"
                     "torchrun train.py --c 3 > log.txt 2>&1 &\n"),
              ElementsAre("--c=3"));
}

TEST(ShellScript, BoundsWhatVariablesGrowTo) {
  std::string script = "A=aaaaaaaaaaaaaaaa\n";
  for (int i = 0; i < 40; ++i) absl::StrAppend(&script, "A=$A$A\n");
  EXPECT_THAT(Launch(script + "torchrun train.py --a $A\n").front(), HasSubstr("too long a word"));
  script = "A=(x x x x)\n";
  for (int i = 0; i < 40; ++i) absl::StrAppend(&script, "A+=(${A[@]})\n");
  EXPECT_THAT(Launch(script + "torchrun train.py ${A[@]}\n").front(), HasSubstr("too many words"));
  script = "A=" + std::string(60'000, 'a') + "\necho";
  for (int i = 0; i < 1000; ++i) absl::StrAppend(&script, " $A");
  EXPECT_THAT(Launch(script).front(), HasSubstr("grow too long"));
  script.clear();
  for (int i = 0; i < 100'000; ++i) absl::StrAppend(&script, "A=(");
  EXPECT_THAT(Launch(script).front(), HasSubstr("nested too deeply"));
}

TEST(ShellScript, RefusesQuotesThatDoNotEnd) {
  EXPECT_THAT(Launch("torchrun train.py --a 'x\n").front(), HasSubstr("run.sh:1"));
  EXPECT_THAT(Launch("A=(x").front(), HasSubstr("does not end"));
  EXPECT_THAT(Launch("echo hello").front(), HasSubstr("must have a launch line"));
}

}  // namespace
}  // namespace meshwright::planner
