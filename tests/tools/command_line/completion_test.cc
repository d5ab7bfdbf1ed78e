// What the program answers the scripts of shells.
#include "gmock/gmock.h"
#include "planner/catalog/catalog.h"
#include "tests/tools/command_runner.h"

namespace meshwright::command_line {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string Answer(std::vector<std::string> words) {
  words.insert(words.begin(), "__complete");
  return cli::RunCommand(words).out;
}

// The answer without descriptions.
std::vector<std::string> Texts(const std::vector<std::string>& words) {
  std::istringstream lines(Answer(words));
  std::vector<std::string> texts;
  for (std::string line; std::getline(lines, line);)
    texts.push_back(line.substr(0, line.find('\t')));
  return texts;
}

TEST(Completion, OffersCommandsAndThoseOfAGroup) {
  EXPECT_THAT(Answer({"rec"}), StartsWith("recommend\tRank"));
  EXPECT_THAT(Texts({"db", ""}), ElementsAreArray({"check", "backup", "compact"}));
}

TEST(Completion, OffersFlagsOfTheCommand) {
  EXPECT_THAT(Texts({"recommend", "--gl"}),
              ElementsAreArray({"--global-batch", "--global-batch-tokens"}));
  EXPECT_THAT(Answer({"schedule", "-"}), AllOf(HasSubstr("--micro-batches\t"),
                                               HasSubstr("--help\t"), Not(HasSubstr("--top"))));
  // Where nothing else can stand.
  EXPECT_THAT(Answer({"recommend", ""}), HasSubstr("--model\t"));
}

TEST(Completion, OffersWordsOfAFlag) {
  EXPECT_THAT(Texts({"recommend", "--format", ""}), ElementsAreArray({"text", "json"}));
  EXPECT_THAT(Texts({"export", "--to=t"}), ElementsAreArray({"--to=torchtitan"}));
  EXPECT_THAT(Texts({"trial", "--devices", ""}), ElementsAreArray({"cpu:", "cuda"}));
  EXPECT_THAT(Texts({"list", "cl"}), ElementsAreArray({"clusters"}));
}

TEST(Completion, OffersPresetsFromTheirData) {
  std::vector<std::string> clusters = planner::ClusterNames();
  clusters.insert(clusters.end(), {"agent:", ":files"});
  EXPECT_THAT(Texts({"recommend", "--cluster", ""}), ElementsAreArray(clusters));
  EXPECT_THAT(Texts({"recommend", "--cluster", "a100"}),
              ElementsAreArray({"a100-40", "a100-80", "a100-pcie-40", "a100-pcie-80", ":files"}));
  std::vector<std::string> profiles = planner::ProfileNames();
  profiles.push_back(":files");
  EXPECT_THAT(Texts({"recommend", "--framework", ""}), ElementsAreArray(profiles));
  EXPECT_THAT(Texts({"list", "clusters", ""}), ElementsAreArray(planner::ClusterNames()));
}

TEST(Completion, OffersPathsWhereFilesAreTaken) {
  EXPECT_THAT(Texts({"serve", "--db", ""}), ElementsAreArray({":files"}));
  EXPECT_THAT(Texts({"agent", "--state-dir", ""}), ElementsAreArray({":folders"}));
  EXPECT_THAT(Texts({"recommend", "--gpus", ""}), testing::IsEmpty());
}

TEST(Completion, HasAScriptForEachShell) {
  for (const char* shell : {"bash", "zsh", "fish", "BASH"}) {
    EXPECT_THAT(cli::RunCommand({"completion", shell}).out, HasSubstr("__complete")) << shell;
  }
  EXPECT_THAT(cli::RunCommand({"completion", "tcsh"}).err, HasSubstr("must be bash, fish or zsh"));
}

}  // namespace
}  // namespace meshwright::command_line
