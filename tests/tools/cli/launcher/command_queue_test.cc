#include "tools/cli/launcher/command_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"

namespace meshwright::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CommandQueueTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::shared_ptr<const CommandQueue> Open() {
    return CommandQueue::Open(
               [this](std::string_view, const std::vector<std::string>& arguments,
                      double) -> absl::StatusOr<std::string> {
                 commands_.push_back(arguments.back());
                 return said_;
               },
               {.submit = "qsub -N {name} {script}",
                .status = "qstat {jobs}",
                .cancel = "qdel {job}",
                .folder = (folder_ / "jobs dir").string()})
        .value();
  }
  AgentJobSpec Spec(const char* agent) const { return {fleet_, "/bin/meshwright", "", agent}; }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / absl::StrCat("command_queue.", getpid());
  AgentFleet fleet_;
  std::vector<std::string> commands_;
  absl::StatusOr<std::string> said_ = "";
};

std::string TextOf(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST_F(CommandQueueTest, SubmitsAScriptThatRunsTheAgentAndTakesTheJobOfTheLastLine) {
  const auto queue = Open();
  said_ = "Welcome.\n17.head\n";
  EXPECT_EQ(queue->Submit(Spec("a-1")).value(), "17.head");
  const std::string script = (folder_ / "jobs dir/a-1.sh").string();
  EXPECT_THAT(commands_, ElementsAre(absl::StrCat("qsub -N a-1 '", script, "'")));
  EXPECT_THAT(TextOf(script),
              AllOf(HasSubstr("#!/bin/sh\nexec /bin/meshwright agent"), HasSubstr("a-1")));
  for (const char* said : {"", "Job <17> is submitted to queue <normal>.\n"}) {
    said_ = said;
    EXPECT_THAT(std::string(queue->Submit(Spec("a-2")).status().message()),
                HasSubstr("must be the job alone"));
  }
}

TEST_F(CommandQueueTest, AsksForItsOwnJobsAlone) {
  const auto queue = Open();
  EXPECT_THAT(queue->List({"a-1", "a-2"}).value(), IsEmpty());
  EXPECT_THAT(commands_, IsEmpty());
  said_ = "17";
  ASSERT_TRUE(queue->Submit(Spec("a-1")).ok());
  said_ = "18";
  ASSERT_TRUE(queue->Submit(Spec("a-2")).ok());
  said_ = "Job State Node\n17 R node7\n18 Q no nodes\n99 R of somebody else\n";
  EXPECT_THAT(
      queue->List({"a-1", "a-2"}).value(),
      ElementsAre(QueuedJob{"17", "a-1", JobPhase::kRunning, "RUNNING", "node7", "", "folder"},
                  QueuedJob{"18", "a-2", JobPhase::kWaiting, "Q", "", "no nodes", "folder"}));
  EXPECT_EQ(commands_.back(), "qstat 17 18");
  ASSERT_TRUE(queue->Cancel({"17", "18"}).ok());
  EXPECT_EQ(commands_[commands_.size() - 2], "qdel 17");
  EXPECT_EQ(commands_.back(), "qdel 18");
}

TEST_F(CommandQueueTest, ALaterProcessFindsTheJobs) {
  said_ = "17";
  ASSERT_TRUE(Open()->Submit(Spec("a-1")).ok());
  said_ = "17 running";
  EXPECT_EQ(Open()->List({"a-1"}).value().front().id, "17");
}

TEST_F(CommandQueueTest, NobodyElseKeepsAgentsInTheFolder) {
  const auto queue = Open();
  QueueCommands commands;
  commands.folder = (folder_ / "jobs dir").string();
  const auto second = CommandQueue::Open(nullptr, commands);
  EXPECT_TRUE(absl::IsFailedPrecondition(second.status()));
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("another process"));
}

TEST_F(CommandQueueTest, AnInterruptedSubmissionIsNotRepeated) {
  const auto queue = Open();
  std::ofstream(folder_ / "jobs dir/a-1.submitting").close();
  EXPECT_THAT(std::string(queue->Submit(Spec("a-1")).status().message()),
              AllOf(HasSubstr("may be in the queue"), HasSubstr("a-1.submitting")));
  EXPECT_THAT(commands_, IsEmpty());
  // A queue that refuses a job is asked again.
  said_ = absl::InternalError("no such queue");
  EXPECT_FALSE(queue->Submit(Spec("a-2")).ok());
  said_ = "18";
  EXPECT_TRUE(queue->Submit(Spec("a-2")).ok());
}

TEST_F(CommandQueueTest, AStateThatNobodyKnowsIsAnError) {
  const auto queue = Open();
  said_ = "17";
  ASSERT_TRUE(queue->Submit(Spec("a-1")).ok());
  for (const auto& [said, sentence] :
       {std::pair{"17 blue", "must be waiting, running, ending, ended"},
        {"17", "without a state"}}) {
    said_ = said;
    EXPECT_THAT(std::string(queue->List({"a-1"}).status().message()), HasSubstr(sentence));
  }
}

TEST(QueueCommands, NeedTheirNamesInBraces) {
  const QueueCommands whole = {
      .submit = "s {script}", .status = "q {jobs}", .cancel = "d {job}", .folder = ""};
  EXPECT_TRUE(Check(whole).ok());
  QueueCommands lacking = whole;
  lacking.submit = "s";
  EXPECT_EQ(Check(lacking).message(), "submit = s: must have {script}");
  lacking = whole;
  lacking.status.clear();
  EXPECT_EQ(FieldOf(Check(lacking)), "status");
  lacking.status = "q";
  EXPECT_TRUE(Check(lacking).ok());
  lacking = whole;
  lacking.cancel.clear();
  EXPECT_THAT(std::string(Check(lacking).message()), HasSubstr("a command with {job}"));
}

TEST(PhaseOfState, ReadsTheStatesOfQueues) {
  for (const char* state : {"Q", "PEND", "qw", "SCHED", "I", "waiting", "PENDING"}) {
    EXPECT_EQ(PhaseOfState(state).value(), JobPhase::kWaiting) << state;
  }
  for (const char* state : {"R", "RUN", "r", "Running"}) {
    EXPECT_EQ(PhaseOfState(state).value(), JobPhase::kRunning) << state;
  }
  for (const char* state : {"E", "CLEANUP", "CG"}) {
    EXPECT_EQ(PhaseOfState(state).value(), JobPhase::kEnding) << state;
  }
  for (const char* state : {"C", "F", "DONE", "EXIT", "X", "INACTIVE", "CANCELLED"}) {
    EXPECT_EQ(PhaseOfState(state).value(), JobPhase::kEnded) << state;
  }
}

}  // namespace
}  // namespace meshwright::cli
