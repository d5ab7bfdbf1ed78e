// A server under load, at its start, and given more than it takes.
#include <chrono>
#include <list>
#include <memory>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "grpcpp/generic/generic_stub.h"
#include "proto/rpc_status.h"
#include "tests/server/raw_call.h"
#include "tests/server/server_fixture.h"

namespace meshwright::server {
namespace {

using ::testing::HasSubstr;

// What the reply says; 0 where it says nothing.
int StatusIn(grpc::ByteBuffer& reply) {
  std::vector<grpc::Slice> slices;
  reply.Dump(&slices);
  return slices.empty() || slices[0].size() < 2 ? 0 : slices[0].begin()[1];
}

// What the standard health service answers: 1 serving, 2 not; 0 where it does not answer. Written
// out, as the project has no stub of it: the request's only field is a text, the reply's a number.
int HealthOf(const std::shared_ptr<grpc::Channel>& channel, const std::string& service = "") {
  const std::string request =
      service.empty() ? "" : std::string("\x0a") + static_cast<char>(service.size()) + service;
  grpc::ByteBuffer reply;
  const grpc::Status status = CallRaw(channel, "/grpc.health.v1.Health/Check", request, &reply);
  if (!status.ok()) return 0;
  return StatusIn(reply);
}

constexpr int kServing = 1;
constexpr int kNotServing = 2;

template <typename Condition>
bool WaitFor(const Condition& condition) {
  const absl::Time deadline = absl::Now() + absl::Seconds(20);
  while (absl::Now() < deadline) {
    if (condition()) return true;
    absl::SleepFor(absl::Milliseconds(5));
  }
  return false;
}

class ServingTest : public testing::Test {
 protected:
  static ServerOptions Options() {
    ServerOptions options;
    options.listen = "127.0.0.1:0";
    options.host_cores = 4;
    options.version = "test";
    options.clock = absl::Now;
    return options;
  }
  void Start(ServerOptions options) {
    auto server = Server::Start(*db::SqliteSweepStore::Open(db::kInMemory), std::move(options));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    Connect(server_->address());
  }
  void Connect(const std::string& address) {
    channel_ = grpc::CreateChannel(address, grpc::InsecureChannelCredentials());
    sweeps_ = v1::Sweeps::NewStub(channel_);
    planner_ = v1::Planner::NewStub(channel_);
    agents_ = v1::Agents::NewStub(channel_);
  }
  grpc::Status ListSweeps() {
    grpc::ClientContext context;
    v1::ListSweepsResponse response;
    return sweeps_->ListSweeps(&context, {}, &response);
  }
  grpc::Status Recommend(const v1::PlanRequest& plan, grpc::ClientContext& context) {
    v1::RecommendRequest request;
    *request.mutable_plan() = plan;
    v1::RecommendResponse response;
    return planner_->Recommend(&context, request, &response);
  }
  static v1::PlanRequest TinyPlan() {
    v1::PlanRequest plan;
    plan.mutable_model()->set_preset("tinystories-15m");
    plan.mutable_cluster()->set_preset("local-cpu");
    plan.set_gpus(2);
    plan.set_seq_len(64);
    plan.set_global_batch(4);
    return plan;
  }

  std::unique_ptr<Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::Sweeps::Stub> sweeps_;
  std::unique_ptr<v1::Planner::Stub> planner_;
  std::unique_ptr<v1::Agents::Stub> agents_;
};

// Searches that go on until they are released, or nobody waits for them.
class SlowSearches {
 public:
  Recommender recommender() {
    return [this](const planner::PlanQuery&, int32_t,
                  const planner::SearchRun& run) -> absl::StatusOr<planner::RecommendAnswer> {
      ++running_;
      while (!released_.load() && !run.cancelled()) absl::SleepFor(absl::Milliseconds(2));
      --running_;
      if (!released_.load()) return absl::CancelledError("the search was cancelled");
      return planner::RecommendAnswer{};
    };
  }
  int running() const { return running_.load(); }
  void Release() { released_.store(true); }

 private:
  std::atomic<int> running_{0};
  std::atomic<bool> released_{false};
};

class SearchLoadTest : public ServingTest {
 protected:
  // Calls on threads of their own.
  void Ask(int count) {
    for (int i = 0; i < count; ++i) {
      Call& call = *calls_.emplace_back(std::make_unique<Call>());
      call.thread = std::thread([this, &call] {
        call.status = Recommend(TinyPlan(), call.context);
        call.ended.store(true);
      });
    }
  }
  void TearDown() override {
    slow_.Release();
    for (const auto& call : calls_) {
      if (call->thread.joinable()) call->thread.join();
    }
    server_.reset();
  }

  struct Call {
    grpc::ClientContext context;
    std::thread thread;
    grpc::Status status;
    std::atomic<bool> ended{false};
  };
  SlowSearches slow_;
  std::vector<std::unique_ptr<Call>> calls_;
};

TEST_F(SearchLoadTest, EverythingElseAnswersBesideFourSearches) {
  ServerOptions options = Options();
  options.recommend = slow_.recommender();
  options.searches_at_once = 4;
  options.most_waiting_searches = 1;
  Start(std::move(options));
  Ask(4);
  ASSERT_TRUE(WaitFor([&] { return slow_.running() == 4; }));
  EXPECT_EQ(HealthOf(channel_), kServing);
  EXPECT_TRUE(ListSweeps().ok());
  const TestAgent agent(server_->address(), "a",
                        [](const trial::TrialPlan& plan, const auto&) { return Measured(plan); });
  EXPECT_TRUE(WaitFor([&] {
    grpc::ClientContext context;
    v1::ListAgentsResponse response;
    return agents_->ListAgents(&context, {}, &response).ok() && response.agents_size() == 1;
  }));
  EXPECT_EQ(slow_.running(), 4);

  // Of two more one waits; the other is refused, as any kind of search is from then on.
  Ask(2);
  const auto refused = [](const grpc::Status& status) {
    return status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED;
  };
  ASSERT_TRUE(WaitFor([&] { return calls_[4]->ended.load() || calls_[5]->ended.load(); }));
  v1::CreateSweepRequest sweep;
  *sweep.mutable_plan() = TinyPlan();
  sweep.set_trials(1);
  grpc::ClientContext create;
  v1::Sweep created;
  EXPECT_TRUE(refused(sweeps_->CreateSweep(&create, sweep, &created)));
  v1::EstimateRequest estimate;
  *estimate.mutable_plan() = TinyPlan();
  grpc::ClientContext one;
  v1::EstimateResponse estimated;
  EXPECT_TRUE(refused(planner_->Estimate(&one, estimate, &estimated)));
  slow_.Release();
  int answered = 0;
  for (const auto& call : calls_) {
    call->thread.join();
    answered += call->status.ok() ? 1 : 0;
    EXPECT_TRUE(call->status.ok() || refused(call->status)) << call->status.error_message();
  }
  EXPECT_EQ(answered, 5);
}

TEST_F(SearchLoadTest, ASearchEndsWithItsCallsDeadlineOrCancellation) {
  ServerOptions options = Options();
  options.recommend = slow_.recommender();
  Start(std::move(options));
  Ask(1);
  ASSERT_TRUE(WaitFor([&] { return slow_.running() == 1; }));
  calls_[0]->context.TryCancel();
  EXPECT_TRUE(WaitFor([&] { return slow_.running() == 0; }));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(50));
  EXPECT_EQ(Recommend(TinyPlan(), context).error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_TRUE(WaitFor([&] { return slow_.running() == 0; }));
}

TEST_F(SearchLoadTest, AServerThatStopsEndsItsSearches) {
  ServerOptions options = Options();
  options.recommend = slow_.recommender();
  options.searches_at_once = 1;
  Start(std::move(options));
  Ask(3);
  ASSERT_TRUE(WaitFor([&] { return slow_.running() == 1; }));
  server_->Stop();
  for (const auto& call : calls_) {
    call->thread.join();
    EXPECT_EQ(call->status.error_code(), grpc::StatusCode::UNAVAILABLE)
        << call->status.error_message();
  }
}

TEST_F(ServingTest, RefusesASearchSpaceThatIsTooLarge) {
  Start(Options());
  v1::PlanRequest plan = TinyPlan();
  plan.mutable_model()->set_preset("llama-3-405b");
  plan.mutable_cluster()->set_preset("h100");
  plan.mutable_framework()->set_preset("meshwright");
  plan.set_gpus(720720);
  plan.set_global_batch(65536);
  grpc::ClientContext context;
  const grpc::Status status = Recommend(plan, context);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("layouts; must be at most 100000000"));
}

TEST_F(ServingTest, CallsEndWithUnavailableUntilTheStoreIsOpen) {
  ServerOptions options = Options();
  // A port that was free a moment ago.
  options.listen =
      (*Server::Start(*db::SqliteSweepStore::Open(db::kInMemory), Options()))->address();
  bool opened = false;
  const auto open = [&]() -> absl::StatusOr<std::unique_ptr<db::SweepStore>> {
    Connect(options.listen);
    EXPECT_EQ(HealthOf(channel_), kNotServing);
    EXPECT_EQ(HealthOf(channel_, "meshwright.v1.Sweeps"), kNotServing);
    const grpc::Status status = ListSweeps();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
    EXPECT_THAT(status.error_message(), HasSubstr("opening its database"));
    grpc::ClientContext recommend;
    EXPECT_EQ(Recommend(TinyPlan(), recommend).error_code(), grpc::StatusCode::UNAVAILABLE);
    grpc::ClientContext watch;
    v1::SweepEvent event;
    const auto events = sweeps_->WatchSweep(&watch, {});
    EXPECT_FALSE(events->Read(&event));
    EXPECT_EQ(events->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
    grpc::ClientContext connect;
    const auto stream = agents_->Connect(&connect);
    v1::ServerMessage message;
    EXPECT_FALSE(stream->Read(&message));
    EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
    opened = true;
    return db::SqliteSweepStore::Open(db::kInMemory);
  };
  const auto server = Server::Start(open, options);
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_TRUE(opened);
  for (const char* service :
       {"", "meshwright.v1.Planner", "meshwright.v1.Sweeps", "meshwright.v1.Agents"}) {
    EXPECT_EQ(HealthOf(channel_, service), kServing) << service;
  }
  EXPECT_EQ(HealthOf(channel_, "meshwright.v1.Nothing"), 0);
  EXPECT_TRUE(ListSweeps().ok());
}

// Tells of the server's health for as long as it is read.
class HealthWatch {
 public:
  explicit HealthWatch(const std::shared_ptr<grpc::Channel>& channel) : stub_(channel) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    call_ = stub_.PrepareCall(&context_, "/grpc.health.v1.Health/Watch", &queue_);
    call_->StartCall(nullptr);
    Await();
    const grpc::Slice empty;
    call_->WriteLast(grpc::ByteBuffer(&empty, 1), grpc::WriteOptions(), nullptr);
    Await();
  }
  // The next status; 0 where the stream has ended.
  int Next() {
    grpc::ByteBuffer reply;
    call_->Read(&reply, nullptr);
    return Await() ? StatusIn(reply) : 0;
  }

 private:
  bool Await() {
    void* tag = nullptr;
    bool ok = false;
    return queue_.Next(&tag, &ok) && ok;
  }

  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
};

TEST_F(ServingTest, SaysThatItServesNoMoreBeforeItEndsWithin5s) {
  Start(Options());
  HealthWatch health(channel_);
  EXPECT_EQ(health.Next(), kServing);
  // A stream that goes on for as long as it is let.
  grpc::ClientContext context;
  const auto stream = agents_->Connect(&context);
  const absl::Time begin = absl::Now();
  std::thread stop([this] { server_->Stop(); });
  EXPECT_EQ(health.Next(), kNotServing);
  v1::ServerMessage message;
  EXPECT_FALSE(stream->Read(&message));
  stop.join();
  EXPECT_LT(absl::Now() - begin, absl::Seconds(5));
}

TEST_F(ServingTest, ATakenPortLeavesTheStoreAlone) {
  Start(Options());
  ServerOptions options = Options();
  options.listen = server_->address();
  const auto second = Server::Start(
      []() -> absl::StatusOr<std::unique_ptr<db::SweepStore>> {
        ADD_FAILURE() << "the store is opened";
        return db::SqliteSweepStore::Open(db::kInMemory);
      },
      options);
  EXPECT_TRUE(absl::IsUnavailable(second.status())) << second.status();
}

TEST_F(ServingTest, AStoreThatCantBeOpenedEndsTheStart) {
  const auto server = Server::Start(
      []() -> absl::StatusOr<std::unique_ptr<db::SweepStore>> {
        return absl::DataLossError("it is damaged");
      },
      Options());
  EXPECT_TRUE(absl::IsDataLoss(server.status()));
}

// What would overflow the stack of whoever walks the value.
TEST_F(ServingTest, OutlivesADeepJson) {
  Start(Options());
  v1::CreateSweepRequest request;
  *request.mutable_plan() = TinyPlan();
  request.set_trials(1);
  request.mutable_plan()->mutable_model()->set_config_json(
      "{\"hidden_size\": " + std::string(80'000, '[') + std::string(80'000, ']') + "}");
  grpc::ClientContext context;
  v1::Sweep sweep;
  const grpc::Status status = sweeps_->CreateSweep(&context, request, &sweep);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("nested too deep"));
  EXPECT_TRUE(ListSweeps().ok());
}

TEST_F(ServingTest, NamesTheFieldThatIsTooLong) {
  Start(Options());
  const auto violation = [&](const v1::PlanRequest& plan) {
    grpc::ClientContext context;
    const grpc::Status status = Recommend(plan, context);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();
    const auto violations = FieldViolationsOf(status);
    return violations.empty() ? FieldViolation{} : violations[0];
  };
  v1::PlanRequest plan = TinyPlan();
  plan.mutable_model()->set_config_json(std::string(6 << 20, ' '));  // above gRPC's own limit
  EXPECT_EQ(violation(plan), (FieldViolation{"plan.model.config_json",
                                             "plan.model.config_json = (6291456 bytes): must be at "
                                             "most 4194304 bytes"}));
  plan = TinyPlan();
  plan.mutable_cluster()->set_preset(std::string(100'000, 'x'));
  EXPECT_EQ(violation(plan).field, "plan.cluster.preset");
  // What is within the limits and wrong all the same is quoted in part: a status has to fit into
  // headers.
  plan = TinyPlan();
  plan.mutable_model()->set_config_json("{\"" + std::string(500'000, 'k') + "\": 1, " +
                                        "\"model_type\": \"" + std::string(500'000, 'v') + "\"}");
  EXPECT_EQ(violation(plan).field, "hidden_size");  // no family of that name, and no sizes
}

TEST_F(ServingTest, EndsTheStreamOfAnAgentThatSaysTooMuch) {
  Start(Options());
  grpc::ClientContext context;
  const auto stream = agents_->Connect(&context);
  v1::AgentMessage message;
  message.mutable_register_()->set_name("a");
  message.mutable_register_()->set_host(std::string(1000, 'h'));
  stream->Write(message);
  v1::ServerMessage reply;
  EXPECT_FALSE(stream->Read(&reply));
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(),
              HasSubstr("register.host = (1000 bytes): must be at most 256 bytes"));
}

// A stream of the health service's Watch, without credentials.
class HealthWatcher {
 public:
  explicit HealthWatcher(const std::shared_ptr<grpc::Channel>& channel) : stub_(channel) {
    stream_ = stub_.PrepareCall(&context_, "/grpc.health.v1.Health/Watch", &queue_);
    stream_->StartCall(nullptr);
    if (!Done()) return;
    const grpc::Slice nothing("");
    stream_->WriteLast(grpc::ByteBuffer(&nothing, 1), grpc::WriteOptions(), nullptr);
    Done();
  }
  ~HealthWatcher() {
    context_.TryCancel();
    grpc::Status status;
    stream_->Finish(&status, nullptr);
    Done();
  }
  // Returns whether the server answers.
  bool Read() {
    grpc::ByteBuffer reply;
    stream_->Read(&reply, nullptr);
    return Done();
  }

 private:
  bool Done() {
    void* tag = nullptr;
    bool ok = false;
    return queue_.Next(&tag, &ok) && ok;
  }

  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
};

TEST_F(ServingTest, WatchersOfHealthAreBounded) {
  Start(Options());
  std::list<HealthWatcher> watchers;
  int answered = 0;
  for (int i = 0; i < 300; ++i) answered += watchers.emplace_back(channel_).Read() ? 1 : 0;
  EXPECT_EQ(answered, 256);
  EXPECT_EQ(HealthOf(channel_), kServing);
  watchers.clear();
  EXPECT_TRUE(WaitFor([&] { return HealthWatcher(channel_).Read(); }));
}

}  // namespace
}  // namespace meshwright::server
