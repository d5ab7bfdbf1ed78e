#include "executor/trial/step_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "nlohmann/json.hpp"

namespace meshwright::trial {
namespace {

using nlohmann::json;

RankTrace Rank(int32_t rank, double begin_s) {
  RankTrace trace;
  trace.rank = rank;
  trace.pipeline_rank = rank;
  trace.name = "rank " + std::to_string(rank);
  StepRecord& record = trace.record;
  record.step = {begin_s, begin_s + 9.0};
  record.actions = {
      {.action = {planner::ActionKind::kForward, 0, 0}, .time = {begin_s + 1.0, begin_s + 2.0}},
      {.action = {planner::ActionKind::kBackward, 0, 0}, .time = {begin_s + 4.0, begin_s + 6.0}}};
  record.optimizer = {begin_s + 7.0, begin_s + 8.0};
  const auto add = [&](std::string group, planner::CollectiveKind operation, double issued_s,
                       double done_s, int32_t peer = -1) {
    record.communication.push_back({.group = std::move(group),
                                    .operation = operation,
                                    .peer = peer,
                                    .bytes = 64,
                                    .issued_s = begin_s + issued_s,
                                    .wait = {begin_s + issued_s, begin_s + done_s},
                                    .done_s = begin_s + done_s});
  };
  add("activations_up", planner::CollectiveKind::kSend, 2.0, 3.0, 1 - rank);
  add("gradients_down", planner::CollectiveKind::kReceive, 2.5, 4.0, 1 - rank);
  add("replicas", planner::CollectiveKind::kAllReduce, 4.5, 6.5);
  add("replicas", planner::CollectiveKind::kAllReduce, 5.0, 7.0);
  add("tied_embeddings", planner::CollectiveKind::kAllReduce, 6.0, 6.5);
  return trace;
}

class StepTraceTest : public testing::Test {
 protected:
  const json trace_ = json::parse(StepTrace({.pp = 2}, {Rank(0, 100.0), Rank(1, 100.5)}));
  const json& events_ = trace_["traceEvents"];

  std::string ThreadOf(const json& event) const {
    for (const json& other : events_) {
      if (other["name"] == "thread_name" && other["pid"] == event["pid"] &&
          other["tid"] == event["tid"]) {
        return other["args"]["name"];
      }
    }
    return "";
  }
};

TEST_F(StepTraceTest, EveryEventHasWhatViewersNeed) {
  ASSERT_FALSE(events_.empty());
  for (const json& event : events_) {
    for (const char* key : {"ph", "ts", "dur", "pid", "tid", "name"}) {
      EXPECT_TRUE(event.contains(key)) << event;
    }
    EXPECT_GE(event["dur"].get<double>(), 0.0);
    EXPECT_GE(event["ts"].get<double>(), 0.0);
  }
}

TEST_F(StepTraceTest, EachRankIsAProcessWithANamedThreadForEachKindOfWork) {
  std::map<int, std::set<std::string>> threads;
  std::set<std::string> processes;
  for (const json& event : events_) {
    if (event["name"] == "process_name") processes.insert(event["args"]["name"]);
    if (event["ph"] == "X") threads[event["pid"]].insert(ThreadOf(event));
  }
  EXPECT_THAT(processes, testing::ElementsAre("rank 0", "rank 1"));
  for (const auto& [process, names] : threads) {
    EXPECT_THAT(names, testing::ElementsAre("compute", "pipeline receives", "pipeline sends",
                                            "replicas", "tied_embeddings"));
  }
}

TEST_F(StepTraceTest, EventsOfAThreadDoNotOverlap) {
  std::map<std::pair<int, int>, double> end_us;
  for (const json& event : events_) {
    if (event["ph"] != "X") continue;
    double& end = end_us[{event["pid"], event["tid"]}];
    EXPECT_GE(event["ts"].get<double>(), end) << event;
    end = event["ts"].get<double>() + event["dur"].get<double>();
  }
}

TEST_F(StepTraceTest, TimeIsThatOfTheFirstRank) {
  std::vector<double> forwards_us;
  for (const json& event : events_) {
    if (event.contains("cat") && event["cat"] == "forward") {
      forwards_us.push_back(event["ts"]);
      EXPECT_EQ(event["args"]["micro_batch"], 0);
      EXPECT_EQ(event["args"]["stage"], event["pid"]);
    }
  }
  EXPECT_THAT(forwards_us, testing::ElementsAre(1e6, 1.5e6));
}

TEST_F(StepTraceTest, CommunicationTellsBytesPeerAndWait) {
  for (const json& event : events_) {
    if (event["name"] != "send") continue;
    EXPECT_EQ(event["args"]["bytes"], 64);
    EXPECT_EQ(event["args"]["peer"], 1 - event["pid"].get<int>());
    EXPECT_EQ(event["args"]["group"], "activations_up");
    EXPECT_DOUBLE_EQ(event["args"]["waited_us"], 1e6);
  }
}

}  // namespace
}  // namespace meshwright::trial
