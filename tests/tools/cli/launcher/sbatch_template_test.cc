#include "tools/cli/launcher/sbatch_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/cli/launcher/batch_script.h"

namespace meshwright::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string TemplateProblem(const std::string& text) {
  return std::string(SbatchTemplate::Parse("site.sh", text).status().message());
}

TEST(SbatchTemplateTest, OptionsFollowTheSitesAndTheAgentsReplaceTheirLine) {
  const auto site = SbatchTemplate::Parse("site.sh",
                                          "#!/bin/bash\n"
                                          "# The site's; {agents} need modules.\n"
                                          "#SBATCH --qos=low\n"
                                          "\n"
                                          "module load cuda\n"
                                          "if true; then\n"
                                          "  {agents}\n"
                                          "fi\n"
                                          "echo ${agents}");
  ASSERT_TRUE(site.ok()) << site.status();
  EXPECT_FALSE(site->execs());
  EXPECT_EQ(site->Fill({"--nodes=2", "--mem=0"}, "srun a\n"),
            "#!/bin/bash\n"
            "# The site's; {agents} need modules.\n"
            "#SBATCH --qos=low\n"
            "#SBATCH --nodes=2\n"
            "#SBATCH --mem=0\n"
            "\n"
            "module load cuda\n"
            "if true; then\n"
            "srun a\n"
            "fi\n"
            "echo ${agents}\n");
  EXPECT_TRUE(SbatchTemplate::Parse("site.sh", "#!/bin/sh\nexec {agents}\n")->execs());
}

TEST(SbatchTemplateTest, TheLineOfTheAgentsIsThereOnce) {
  EXPECT_THAT(TemplateProblem("{agents}\n"),
              HasSubstr("site.sh:1: {agents}: must name the script"));
  EXPECT_THAT(TemplateProblem(""), HasSubstr("must name the script's shell"));
  EXPECT_THAT(TemplateProblem("#!/bin/sh\n# {agents}\n"), HasSubstr("must have a line {agents}"));
  EXPECT_THAT(TemplateProblem("#!/bin/sh\n{agents}\n\n exec {agents}\n"),
              HasSubstr("site.sh:4: exec {agents}: must not be there again: line 2 starts"));
  EXPECT_THAT(TemplateProblem("#!/bin/sh\n{agents}\ntime {agents}\n"),
              HasSubstr("site.sh:3: time {agents}: must have {agents} on a line of its own"));
}

// They would hide the jobs from the launcher, which would then submit others without end.
TEST(SbatchTemplateTest, TheLaunchersOwnOptionsAreRefusedWithTheirLine) {
  for (const char* own :
       {"--job-name=x", "--job x", "-J x", "-Jx", "--qos=low -J x", "--comment \"a b\"",
        "--dependency=afterok:1", "-d singleton", "-QHa 0-3", "--nodes=3", "-N3", "-o x.log",
        "--wait", "-M other", "--requeue", "--wrap=x"}) {
    EXPECT_THAT(TemplateProblem(std::string("#!/bin/sh\n#SBATCH --time=1\n#SBATCH ") + own +
                                "\n{agents}\n"),
                HasSubstr(std::string("site.sh:3: #SBATCH ") + own + ": must not set --"))
        << own;
  }
  EXPECT_THAT(TemplateProblem("#!/bin/sh\n#PBS -N x\n{agents}\n"),
              HasSubstr("must be a #SBATCH line"));
  EXPECT_THAT(TemplateProblem("#!/bin/sh\n#SBATCH hetjob\n{agents}\n"), HasSubstr("one component"));
}

TEST(SbatchTemplateTest, OtherOptionsAreTheSites) {
  const std::string all =
      "#!/bin/sh\n"
      "#SBATCH -p gpu -t 12:00:00 -A lab -c 8 --qos=\"a -N b\" # -N 3\n"
      "##SBATCH --nodes=3\n"
      "#SBATCH --nodelist=n[1-4] --open-mode=append --wait-all-nodes=1 -QH\n"
      "{agents}\n"
      "#SBATCH --nodes=3\n";  // after the first command, sbatch reads no options
  EXPECT_EQ(TemplateProblem(all), "");
}

TEST(BatchScriptTest, ASiteDecidesAboutMemoryAndWholeNodesAndFlagsComeLast) {
  AgentFleet fleet;
  fleet.name = "a";
  fleet.nodes = 1;
  SlurmJobFlags flags;
  flags.partition = "gpu";
  const std::string plain = BatchScript(fleet, flags, "/bin/meshwright", "a-1");
  EXPECT_THAT(plain, HasSubstr("#SBATCH --exclusive\n#SBATCH --mem=0\n"));
  flags.site_script = SbatchTemplate::Parse("site.sh",
                                            "#!/bin/sh\n#SBATCH --mem-per-cpu=2G -s -p old\n"
                                            "{agents}\n")
                          .value();
  const std::string script = BatchScript(fleet, flags, "/bin/meshwright", "a-1");
  EXPECT_THAT(script, Not(HasSubstr("--exclusive")));
  EXPECT_THAT(script, Not(HasSubstr("--mem=0")));
  EXPECT_LT(script.find("-p old"), script.find("--partition=gpu"));
  EXPECT_THAT(script, HasSubstr("\nsrun --ntasks=1 "));
}

}  // namespace
}  // namespace meshwright::cli
