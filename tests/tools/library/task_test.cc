#include "tools/library/task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nlohmann/json.hpp"

namespace meshwright::library {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

json Ask(const std::string& request, const std::string& arguments = "{}") {
  Task task(*OpenSession(arguments), request);
  return json::parse(task.Answer());
}

constexpr char kEstimate[] = R"({"command": "estimate", "arguments": {"model": "llama-3-8b",
    "cluster": "h100", "gpus": 16, "seq_len": 4096, "global_batch": 64, "layout": "tp2.pp2.dp4"}})";

TEST(Task, AnswersAsTheCommandDoes) {
  const json answer = Ask(kEstimate);
  ASSERT_EQ(answer["outputs"].size(), 1u);
  EXPECT_EQ(answer["outputs"][0]["schema_version"], 1);
  EXPECT_EQ(answer["outputs"][0]["axes"]["tp"], 2);
  EXPECT_EQ(answer["done"]["exit_code"], 0);
  EXPECT_FALSE(answer["done"].contains("error"));
}

TEST(Task, FailsWithTheFieldOfTheCommandsError) {
  const json answer = Ask(R"({"command": "estimate", "arguments": {"model": "llama-3-8b",
      "cluster": "h100", "gpus": 0, "seq_len": 4096, "global_batch": 64, "layout": "tp2.pp2.dp4"}})");
  EXPECT_TRUE(answer["outputs"].empty());
  EXPECT_EQ(answer["done"]["exit_code"], 2);
  EXPECT_EQ(answer["done"]["error"]["code"], "INVALID_ARGUMENT");
  EXPECT_EQ(answer["done"]["error"]["field"], "gpus");
}

TEST(Task, FailsWhereTheRequestIsNone) {
  EXPECT_THAT(Ask("{")["done"]["error"]["message"].get<std::string>(), HasSubstr("request"));
  EXPECT_EQ(Ask(R"({"command": "serve"})")["done"]["error"]["field"], "command");
}

TEST(Task, TakesTheArgumentsOfItsSession) {
  const json answer = Ask(R"({"command": "list", "arguments": {"kind": "models"}})",
                          R"({"server": "127.0.0.1:1", "gpus": 3})");
  EXPECT_EQ(answer["done"]["error"]["code"], "UNAVAILABLE");
}

TEST(Task, RepeatsAFlagForEachItemOfItsList) {
  json request = json::parse(kEstimate);
  request["arguments"]["measured"] = {"tp2.pp2.dp4 step=2.9s memory=60GiB",
                                      "tp4.pp2.dp2 step=3.1s"};
  const json answer = Ask(request.dump());
  ASSERT_EQ(answer["outputs"].size(), 1u) << answer;
  EXPECT_EQ(answer["outputs"][0]["measured"].size(), 2u);
}

TEST(Task, NamesTheCommandsWhereItsOwnIsNotKnown) {
  const json answer = Ask(R"({"command": "recomend"})");
  EXPECT_THAT(answer["done"]["error"]["message"].get<std::string>(), HasSubstr("recommend"));
}

TEST(Task, HasOneLastEvent) {
  Task task(*OpenSession("{}"), kEstimate);
  bool done = false;
  while (const std::optional<Event> event = task.Next(absl::InfiniteDuration())) {
    EXPECT_FALSE(done);
    done = event->kind == Event::Kind::kDone;
  }
  EXPECT_TRUE(done);
  EXPECT_EQ(task.Next(absl::InfiniteDuration()), std::nullopt);
}

TEST(Task, WaitsNoLongerThanIsAsked) {
  Task task(*OpenSession("{}"), R"({"command": "scale", "arguments": {"model": "llama-3-405b",
      "cluster": "h100", "gpus": "1024..16384", "seq_len": 8192, "global_batch": 2048}})");
  const std::optional<Event> event = task.Next(absl::Milliseconds(1));
  EXPECT_TRUE(!event || event->kind == Event::Kind::kProgress);
}

TEST(Session, RefusesArgumentsThatAreNoObject) {
  EXPECT_EQ(OpenSession("3").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(OpenSession("{").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(EventQueue, KeepsTheLatestProgressAlone) {
  EventQueue queue;
  queue.Add({Event::Kind::kProgress, "1"});
  queue.Add({Event::Kind::kProgress, "2"});
  queue.Add({Event::Kind::kOutput, "3"});
  queue.Add({Event::Kind::kDone, "4"});
  queue.Add({Event::Kind::kOutput, "5"});
  std::vector<std::string> texts;
  while (const std::optional<Event> event = queue.Next(absl::ZeroDuration())) {
    texts.push_back(event->ToText());
  }
  EXPECT_THAT(texts,
              testing::ElementsAre(R"({"progress": 2})", R"({"output": 3})", R"({"done": 4})"));
}

}  // namespace
}  // namespace meshwright::library
