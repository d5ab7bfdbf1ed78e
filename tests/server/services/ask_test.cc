// Answers that come behind the progress of their search.
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "db/sqlite_store.h"
#include "gmock/gmock.h"
#include "grpcpp/create_channel.h"
#include "gtest/gtest.h"
#include "meshwright/v1/planner.grpc.pb.h"
#include "server/server.h"

namespace meshwright::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

v1::AskRequest Tiny() {
  v1::AskRequest request;
  v1::PlanRequest& plan = *request.mutable_recommend()->mutable_plan();
  plan.mutable_model()->set_preset("tinystories-15m");
  plan.mutable_cluster()->set_preset("local-cpu");
  plan.set_gpus(2);
  plan.set_seq_len(64);
  plan.set_global_batch(4);
  return request;
}

class AskTest : public testing::Test {
 protected:
  // A server on a clock of its own, which asks `recommend` for recommendations.
  void Start(Recommender recommend) {
    ServerOptions options;
    options.listen = "127.0.0.1:0";
    options.host_cores = 2;
    options.version = "test";
    options.clock = absl::Now;
    options.monotonic_clock = [this] { return MonotonicTime{absl::Milliseconds(now_ms_.load())}; };
    options.recommend = std::move(recommend);
    auto server = Server::Start(*db::SqliteSweepStore::Open(db::kInMemory), std::move(options));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    planner_ = v1::Planner::NewStub(
        grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials()));
  }

  struct Answer {
    std::vector<int64_t> progress;  // how much was done
    v1::AskResponse last;
    grpc::Status status;
  };
  Answer Ask(const v1::AskRequest& request) {
    grpc::ClientContext context;
    const auto stream = planner_->Ask(&context, request);
    Answer answer;
    v1::AskResponse response;
    while (stream->Read(&response)) {
      if (response.has_progress()) answer.progress.push_back(response.progress().done());
      answer.last = response;
      ++read_;
    }
    answer.status = stream->Finish();
    return answer;
  }
  // Until the client has read so many messages.
  void AwaitRead(int count) const {
    while (read_.load() < count) absl::SleepFor(absl::Milliseconds(1));
  }

  std::atomic<int64_t> now_ms_{0};
  std::atomic<int> read_{0};
  std::unique_ptr<Server> server_;
  std::unique_ptr<v1::Planner::Stub> planner_;
};

TEST_F(AskTest, TellsHowFarTheSearchIsTenTimesASecond) {
  Start([this](const planner::PlanQuery&, int32_t,
               const planner::SearchRun& run) -> absl::StatusOr<planner::RecommendAnswer> {
    run.progress({.seen = 1, .of = 9});
    AwaitRead(1);
    now_ms_ = 99;
    run.progress({.seen = 2, .of = 9});  // too soon
    now_ms_ = 100;
    // The write before it may not be done yet, though its message was read.
    while (read_.load() < 2) run.progress({.seen = 3, .of = 9});
    planner::RecommendAnswer answer;
    answer.counts.parameters = 42;
    return answer;
  });
  const Answer answer = Ask(Tiny());
  EXPECT_TRUE(answer.status.ok()) << answer.status.error_message();
  EXPECT_THAT(answer.progress, ElementsAre(1, 3));
  EXPECT_EQ(answer.last.recommend().parameters(), 42);
}

TEST_F(AskTest, EndsWithWhatWentWrong) {
  Start([](const planner::PlanQuery&, int32_t,
           const planner::SearchRun& run) -> absl::StatusOr<planner::RecommendAnswer> {
    run.progress({.seen = 1, .of = 9});
    return absl::InvalidArgumentError("no such thing");
  });
  const Answer answer = Ask(Tiny());
  EXPECT_EQ(answer.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(answer.status.error_message(), "no such thing");
}

TEST_F(AskTest, RefusesAQuestionThatIsNone) {
  Start(planner::AnswerRecommend);
  const Answer answer = Ask({});
  EXPECT_EQ(answer.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(answer.status.error_message(), HasSubstr("recommend, scale, study"));
}

TEST_F(AskTest, AnswersEveryKindOfQuestion) {
  Start(planner::AnswerRecommend);
  const v1::PlanRequest plan = Tiny().recommend().plan();
  EXPECT_GT(Ask(Tiny()).last.recommend().layouts_size(), 0);
  v1::AskRequest request;
  *request.mutable_scale()->mutable_plan() = plan;
  request.mutable_scale()->set_gpus_low(1);
  request.mutable_scale()->set_gpus_high(2);
  const Answer scale = Ask(request);
  EXPECT_EQ(scale.last.scale().points_size(), 2);
  EXPECT_FALSE(scale.progress.empty());
  *request.mutable_study()->mutable_plan() = plan;
  EXPECT_GT(Ask(request).last.study().ablations_size(), 0);
  *request.mutable_fastest()->mutable_plan() = plan;
  request.mutable_fastest()->set_gpus_low(1);
  request.mutable_fastest()->set_gpus_high(2);
  request.mutable_fastest()->set_tokens(1e9);
  request.mutable_fastest()->set_critical_batch(8);
  EXPECT_EQ(Ask(request).last.fastest().strategies_size(), 3);
  *request.mutable_fit()->mutable_plan() = plan;
  EXPECT_EQ(Ask(request).last.fit().limits_size(), 3);
}

TEST_F(AskTest, StopsSearchingWhenItsClientGoesAway) {
  std::atomic<bool> searches{false};
  std::atomic<bool> ended{false};
  Start([&](const planner::PlanQuery&, int32_t,
            const planner::SearchRun& run) -> absl::StatusOr<planner::RecommendAnswer> {
    searches = true;
    while (!run.cancelled()) {
      now_ms_ += 100;
      run.progress({.seen = now_ms_, .of = 1 << 20});
      absl::SleepFor(absl::Milliseconds(1));
    }
    ended = true;
    return absl::CancelledError("cancelled");
  });
  {
    grpc::ClientContext context;
    const auto stream = planner_->Ask(&context, Tiny());
    v1::AskResponse response;
    ASSERT_TRUE(stream->Read(&response));
    EXPECT_TRUE(searches.load());
    context.TryCancel();
    EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  const absl::Time deadline = absl::Now() + absl::Seconds(10);
  while (!ended.load() && absl::Now() < deadline) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_TRUE(ended.load());
}

}  // namespace
}  // namespace meshwright::server
