// How much callers may take of a server: of the counts alone, and of a server that asks nobody who
// they are. What holds for each caller is in access_test.cc too.
#include "server/calls/limits.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "proto/rpc_status.h"
#include "tests/server/server_fixture.h"

namespace meshwright::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Keeps what was refused.
class Refusals {
 public:
  RefusalSink sink() {
    return [this](std::string_view limit, const std::string& caller, const absl::Status& refusal) {
      EXPECT_TRUE(absl::IsResourceExhausted(refusal)) << refusal;
      seen.push_back(std::string(limit) + " " + caller);
    };
  }
  std::vector<std::string> seen;
};

ConcurrencyLimit Two(const RefusalSink& sink) {
  return ConcurrencyLimit({.things = "watchers",
                           .flag = "--max-watchers",
                           .flag_per_caller = "--max-watchers-per-caller",
                           .most = 3,
                           .most_per_caller = 2},
                          sink);
}

TEST(ConcurrencyLimitTest, OneCallerGetsSoManyAndAllTogetherSoMany) {
  Refusals refusals;
  ConcurrencyLimit places = Two(refusals.sink());
  auto first = places.Take("token ann");
  const auto second = places.Take("token ann");
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(places.Take("token ann").status().message(),
            "token ann has 2 watchers, the most that one caller may have at once (serve "
            "--max-watchers-per-caller): end one of them, or try again later");
  const auto third = places.Take("token bob");
  ASSERT_TRUE(third.ok());
  EXPECT_EQ(places.Take("token eve").status().message(),
            "the server has 3 watchers, the most that it takes at once (serve --max-watchers): try "
            "again later");
  EXPECT_THAT(refusals.seen, ElementsAre("watchers_per_caller token ann", "watchers token eve"));
  first->reset();
  EXPECT_TRUE(places.Take("token ann").ok());
}

TEST(ConcurrencyLimitTest, CallersThatAreNotAskedShareWhatThereIs) {
  ConcurrencyLimit places = Two({});
  const auto first = places.Take("");
  const auto second = places.Take("");
  const auto third = places.Take("");
  EXPECT_TRUE(first.ok() && second.ok() && third.ok());
  EXPECT_TRUE(absl::IsResourceExhausted(places.Take("").status()));
}

class CallRatesTest : public testing::Test {
 protected:
  int CallsThatPass(const std::string& caller, int calls) {
    int passed = 0;
    for (int i = 0; i < calls; ++i) passed += rates_.Take(caller).ok() ? 1 : 0;
    return passed;
  }

  absl::Duration now_;
  Refusals refusals_;
  CallRates rates_{2.0, [this] { return MonotonicTime{now_}; }, refusals_.sink()};
};

TEST_F(CallRatesTest, WhoPausedMayCallSoOftenAtOnceAndThenByTheClock) {
  EXPECT_EQ(CallsThatPass("token ann", 100), 10);
  now_ += absl::Milliseconds(400);
  EXPECT_EQ(rates_.Take("token ann").message(),
            "token ann calls too often: one caller may make 2 calls a second (serve "
            "--max-calls-per-s) and 10 at once after a pause; the next may come in 0.1 s");
  now_ += absl::Milliseconds(100);
  EXPECT_EQ(CallsThatPass("token ann", 100), 1);
  now_ += absl::Hours(1);
  EXPECT_EQ(CallsThatPass("token ann", 100), 10);
}

TEST_F(CallRatesTest, OneCallerTakesNothingFromAnother) {
  EXPECT_EQ(CallsThatPass("token ann", 100), 10);
  EXPECT_EQ(CallsThatPass("token bob", 5), 5);
  EXPECT_EQ(refusals_.seen.size(), 90u);
  EXPECT_EQ(refusals_.seen.front(), "calls_per_s token ann");
}

TEST_F(CallRatesTest, ManyCallersEachHaveTheirOwn) {
  for (int i = 0; i < 3000; ++i) {
    EXPECT_EQ(CallsThatPass("token " + std::to_string(i), 11), 10);
    if (i % 500 == 0) now_ += absl::Seconds(60);
  }
}

TEST_F(CallRatesTest, WhoCallsEvenlyIsNeverRefused) {
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(rates_.Take("token ann").ok()) << i;
    now_ += absl::Milliseconds(500);
  }
}

TEST(LimitOptionsTest, ALimitLetsSomethingThrough) {
  EXPECT_TRUE(CheckLimitOptions({}).ok());
  for (const auto& [options, field] :
       {std::pair(LimitOptions{.max_connections = 0}, "max_connections"),
        std::pair(LimitOptions{.max_agents = 0}, "max_agents"),
        std::pair(LimitOptions{.max_watchers = -1}, "max_watchers"),
        std::pair(LimitOptions{.max_watchers_per_caller = 0}, "max_watchers_per_caller"),
        std::pair(LimitOptions{.max_searches_per_caller = 0}, "max_searches_per_caller"),
        std::pair(LimitOptions{.max_calls = 0}, "max_calls"),
        std::pair(LimitOptions{.max_calls_per_caller = -1}, "max_calls_per_caller"),
        std::pair(LimitOptions{.max_calls_per_s = 0.0}, "max_calls_per_s"),
        std::pair(LimitOptions{.max_search = absl::ZeroDuration()}, "max_search_s")}) {
    const absl::Status status = CheckLimitOptions(options);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << field;
    EXPECT_THAT(std::string(status.message()), HasSubstr(field));
  }
}

// A server in plain text.
class ServerLimitsTest : public testing::Test {
 protected:
  void Start(const LimitOptions& limits, Recommender recommend = planner::AnswerRecommend) {
    ServerOptions options;
    options.listen = "127.0.0.1:0";
    options.host_cores = 4;
    options.version = "test";
    options.clock = absl::Now;
    options.monotonic_clock = [this] { return MonotonicTime{absl::Seconds(now_s_.load())}; };
    options.limits = limits;
    options.held.growth_bytes = int64_t{1} << 30;  // the clients' messages are in this process too
    options.recommend = std::move(recommend);
    auto server = Server::Start(*db::SqliteSweepStore::Open(db::kInMemory), std::move(options));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    channel_ = grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials());
    sweeps_ = v1::Sweeps::NewStub(channel_);
    agents_ = v1::Agents::NewStub(channel_);
    planner_ = v1::Planner::NewStub(channel_);
  }

  static v1::PlanRequest TinyPlan() {
    v1::PlanRequest plan;
    plan.mutable_model()->set_preset("tinystories-15m");
    plan.mutable_cluster()->set_preset("local-cpu");
    plan.set_gpus(4);
    plan.set_seq_len(64);
    plan.set_global_batch(8);
    return plan;
  }
  std::string NewSweep() {
    v1::CreateSweepRequest request;
    *request.mutable_plan() = TinyPlan();
    request.set_trials(1);
    request.set_candidates(1);
    request.set_min_gain(0.0);
    grpc::ClientContext context;
    v1::Sweep sweep;
    const grpc::Status status = sweeps_->CreateSweep(&context, request, &sweep);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return sweep.name();
  }

  struct Watch {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<v1::SweepEvent>> stream;
    bool has_event = false;  // one came
  };
  std::unique_ptr<Watch> StartWatch(const std::string& sweep) {
    auto watch = std::make_unique<Watch>();
    v1::WatchSweepRequest request;
    request.set_name(sweep);
    watch->stream = sweeps_->WatchSweep(&watch->context, request);
    v1::SweepEvent event;
    watch->has_event = watch->stream->Read(&event);
    return watch;
  }
  static grpc::Status End(Watch& watch) {
    watch.context.TryCancel();
    return watch.stream->Finish();
  }

  std::atomic<int64_t> now_s_{0};
  std::unique_ptr<Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::Sweeps::Stub> sweeps_;
  std::unique_ptr<v1::Agents::Stub> agents_;
  std::unique_ptr<v1::Planner::Stub> planner_;
};

TEST_F(ServerLimitsTest, WatchersBeyondTheLimitAreToldSo) {
  Start({.max_watchers = 2, .max_watchers_per_caller = 1});
  const std::string sweep = NewSweep();
  const auto first = StartWatch(sweep);
  const auto second = StartWatch(sweep);  // nobody says that it is the first one's
  EXPECT_TRUE(first->has_event && second->has_event);
  const auto third = StartWatch(sweep);
  EXPECT_FALSE(third->has_event);
  const grpc::Status refused = third->stream->Finish();
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.error_message(), HasSubstr("the server has 2 watchers"));
  End(*first);
  EXPECT_TRUE(WaitFor([&] {
    const auto next = StartWatch(sweep);
    End(*next);
    return next->has_event;
  }));
  End(*second);
}

TEST_F(ServerLimitsTest, AgentsBeyondTheLimitTryAgain) {
  Start({.max_agents = 1});
  const auto connected = [&](const std::string& name) {
    grpc::ClientContext context;
    v1::ListAgentsResponse response;
    return agents_->ListAgents(&context, {}, &response).ok() && response.agents_size() == 1 &&
           response.agents(0).name() == name;
  };
  auto first = std::make_unique<TestAgent>(server_->address(), "a", RunAtOnce);
  ASSERT_TRUE(WaitFor([&] { return connected("a"); }));
  const TestAgent second(server_->address(), "b", RunAtOnce);
  {
    grpc::ClientContext context;
    const auto stream = agents_->Connect(&context);
    v1::ServerMessage message;
    EXPECT_FALSE(stream->Read(&message));
    const grpc::Status refused = stream->Finish();
    EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_THAT(refused.error_message(), HasSubstr("the server has 1 agents"));
  }
  first.reset();
  EXPECT_TRUE(WaitFor([&] { return connected("b"); }));
}

TEST_F(ServerLimitsTest, WhoIsNotAskedMayCallAsOftenAsTheyLike) {
  Start({.max_calls_per_s = 0.1});
  for (int i = 0; i < 50; ++i) {
    grpc::ClientContext context;
    v1::ListSweepsResponse response;
    EXPECT_TRUE(sweeps_->ListSweeps(&context, {}, &response).ok());
  }
}

TEST_F(ServerLimitsTest, ACallThatASearchAnswersIsPendingUntilThen) {
  std::atomic<bool> release{false};
  Start({.max_calls = 1},
        [&](const planner::PlanQuery&, int32_t,
            const planner::SearchRun&) -> absl::StatusOr<planner::RecommendAnswer> {
          while (!release.load()) absl::SleepFor(absl::Milliseconds(5));
          return planner::RecommendAnswer();
        });
  const auto list = [&] {
    grpc::ClientContext context;
    v1::ListSweepsResponse response;
    return sweeps_->ListSweeps(&context, {}, &response);
  };
  std::thread search([&] {
    v1::RecommendRequest request;
    *request.mutable_plan() = TinyPlan();
    v1::RecommendResponse response;
    // A call of list() may have had the place.
    EXPECT_TRUE(WaitFor([&] {
      grpc::ClientContext context;
      return planner_->Recommend(&context, request, &response).ok();
    }));
  });
  EXPECT_TRUE(WaitFor([&] { return list().error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED; }));
  EXPECT_THAT(list().error_message(), HasSubstr("the server has 1 calls"));
  release.store(true);
  search.join();
  EXPECT_TRUE(list().ok());
}

TEST_F(ServerLimitsTest, ASearchEndsWhenItsTimeIsOver) {
  Start({.max_search = absl::Seconds(60)},
        [this](const planner::PlanQuery&, int32_t,
               const planner::SearchRun& run) -> absl::StatusOr<planner::RecommendAnswer> {
          now_s_ = 59;
          EXPECT_FALSE(run.cancelled());
          now_s_ = 60;
          EXPECT_TRUE(run.cancelled());
          return absl::CancelledError("it was cancelled");
        });
  v1::RecommendRequest request;
  *request.mutable_plan() = TinyPlan();
  grpc::ClientContext context;
  v1::RecommendResponse response;
  const grpc::Status status = planner_->Recommend(&context, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_THAT(status.error_message(), HasSubstr("the search reached the limit of 60 s"));
}

TEST_F(ServerLimitsTest, AMessageThatIsTooLongIsExplained) {
  Start({});
  grpc::ClientContext context;
  v1::ListSweepsRequest request;
  request.mutable_page_token()->resize(40'000'000, 'x');
  v1::ListSweepsResponse response;
  const absl::Status status = FromGrpcStatus(sweeps_->ListSweeps(&context, request, &response));
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("takes at most 33554432: ask for less"));
  // What fits into a message and not into its field is refused by the field's name.
  grpc::ClientContext next;
  request.set_page_token(std::string(300, 'x'));
  const grpc::Status field = sweeps_->ListSweeps(&next, request, &response);
  EXPECT_EQ(field.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  ASSERT_EQ(FieldViolationsOf(field).size(), 1u);
  EXPECT_EQ(FieldViolationsOf(field)[0].field, "page_token");
  EXPECT_THAT(field.error_message(), HasSubstr("(300 bytes): must be at most 256 bytes"));
}

}  // namespace
}  // namespace meshwright::server
