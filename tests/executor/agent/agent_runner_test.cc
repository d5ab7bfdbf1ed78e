// What a server can make an agent run by its runners.
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "executor/command/command_trial.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/executor/agent/agent_session_fixture.h"

namespace meshwright::agent {
namespace {

using ::testing::HasSubstr;

// An agent with a runner that would leave a file if it ran.
class AgentRunnerTest : public AgentSessionTest {
 protected:
  void StartAgentWithRunner() {
    const absl::StatusOr<command::Runner> read = command::ParseRunner(
        absl::StrCat(
            R"({"name": "r", "framework": "deepspeed", "where": "tp = 1", "argv": ["touch", ")",
            ran_, R"(", "{data}", "{count}"], "fields": {"data": {"words": ["wiki"]}, )",
            R"("count": {"from": 1, "to": 8}}})"),
        "/");
    ASSERT_TRUE(read.ok()) << read.status();
    runner_ = *read;
    offers_ = {{.name = "r", .hash = runner_.hash, .framework = "deepspeed", .export_to = ""}};
    StartAgent([this](const trial::TrialPlan& plan, const trial::TrialRunnerOptions& options) {
      if (!plan.runner) return trial::FailedResult("the worker", trial::Fault::kLayout);
      return command::RunCommandTrial(
          plan, runner_,
          {.guard = "/no/guard",
           .work_folder = testing::TempDir(),
           .environment = [](const std::string&) { return std::optional<std::string>(); }},
          options);
    });
  }
  void SetUp() override {
    AgentSessionTest::SetUp();
    ran_ = testing::TempDir() + "/agent-runner-" + std::to_string(getpid());
  }

  // Returns the message with which the agent answers a plan of this runner.
  std::string AnswerTo(const nlohmann::json& runner) {
    nlohmann::json plan = nlohmann::json::parse(SomePlan());
    plan["runner"] = runner;
    server_.Assign(absl::StrCat("sweeps/s/trials/", ++trial_), plan.dump());
    const v1::TrialFinished answer = server_.Next(v1::AgentMessage::kFinished).finished();
    EXPECT_EQ(answer.measurement().outcome(), v1::OUTCOME_FAILED);
    return answer.measurement().message();
  }
  nlohmann::json Chosen(const std::string& data, const std::string& count) {
    return {{"name", "r"}, {"hash", runner_.hash}, {"fields", {{"data", data}, {"count", count}}}};
  }

  command::Runner runner_;
  std::string ran_;
  int trial_ = 0;
};

TEST_F(AgentRunnerTest, TellsItsRunnersButNotTheirCommands) {
  StartAgentWithRunner();
  const v1::Register message = server_.Register(kStore);
  ASSERT_EQ(message.runners_size(), 1);
  EXPECT_EQ(message.runners(0).name(), "r");
  EXPECT_EQ(message.runners(0).hash(), runner_.hash);
  EXPECT_THAT(message.DebugString(), testing::Not(HasSubstr("touch")));
}

TEST_F(AgentRunnerTest, ARunnerOrAFileThatItWasNotGivenIsRefused) {
  StartAgentWithRunner();
  server_.Register(kStore);
  EXPECT_THAT(AnswerTo({{"name", "sh"}, {"hash", runner_.hash}}),
              HasSubstr("is no runner of this agent"));
  EXPECT_THAT(AnswerTo({{"name", "r"}, {"hash", std::string(64, '0')}}),
              HasSubstr("is no runner of this agent, or the agent has another file for it"));
  EXPECT_THAT(AnswerTo({{"name", "r"}, {"hash", runner_.hash}, {"argv", {"sh"}}}),
              HasSubstr("argv"));
  EXPECT_THAT(AnswerTo("r"), HasSubstr("runner"));
}

TEST_F(AgentRunnerTest, HostileValuesReachNoCommand) {
  StartAgentWithRunner();
  server_.Register(kStore);
  for (const char* value : {";",
                            "$(id)",
                            "`id`",
                            "|sh",
                            "&",
                            "\n",
                            "wiki\n",
                            "wiki;id",
                            "--config=/etc/passwd",
                            "-c",
                            "../",
                            "../../etc/passwd",
                            "/etc/passwd",
                            "{folder}",
                            "{args}",
                            "",
                            " ",
                            "wiki ",
                            "WIKI",
                            "*",
                            "\\",
                            "'",
                            "\"",
                            "~",
                            "$HOME"}) {
    EXPECT_THAT(AnswerTo(Chosen(value, "4")), HasSubstr("must be one of wiki")) << value;
    EXPECT_THAT(AnswerTo(Chosen("wiki", value)), HasSubstr("a whole number from 1 to 8")) << value;
  }
  EXPECT_THAT(AnswerTo(Chosen("wiki", "9")), HasSubstr("a whole number from 1 to 8"));
  EXPECT_FALSE(std::filesystem::exists(ran_));
}

TEST_F(AgentRunnerTest, ALayoutThatTheRunnerDoesNotRunIsRefused) {
  StartAgentWithRunner();
  server_.Register(kStore);
  runner_.where = "zero = 3";
  EXPECT_THAT(AnswerTo(Chosen("wiki", "4")), HasSubstr("must be one that the runner r runs"));
}

TEST_F(AgentRunnerTest, ACommandThatIsNotToldItsNodeDoesNotRunOnSeveralAgents) {
  StartAgentWithRunner();
  server_.Register(kStore);
  nlohmann::json plan = nlohmann::json::parse(SomePlan(2));
  plan["runner"] = Chosen("wiki", "4");
  server_.AssignOneOfTwo("sweeps/s/trials/1", plan.dump(), 0);
  EXPECT_THAT(server_.Next(v1::AgentMessage::kFinished).finished().measurement().message(),
              HasSubstr("must not divide its ranks over several agents"));
}

}  // namespace
}  // namespace meshwright::agent
