// Two servers of one store: one follows, takes over, and is the one that decides from then on.
#include "gmock/gmock.h"
#include "meshwright/v1/standby.grpc.pb.h"
#include "tests/server/server_fixture.h"

namespace meshwright::server {
namespace {

using ::testing::HasSubstr;

class TakeoverTest : public ServerFixture {
 protected:
  void TearDown() override {
    second_.reset();
    ServerFixture::TearDown();
  }
  // Starts a standby of the fixture's server.
  void StartSecond(const std::string& database = "copy.db") {
    const std::string path = folder_ + "/" + database;
    ServerOptions options;
    options.listen = "127.0.0.1:0";
    options.host_cores = 4;
    options.version = "test";
    options.clock = absl::Now;
    options.standby = StandbyOptions{
        .servers =
            {{.address = server_->address(), .ca = {}, .certificate = {}, .key = {}, .token = {}}},
        .name = "second",
        .open_copy = [path] { return db::StandbyCopy::Open(path); }};
    auto server =
        Server::Start([path] { return db::SqliteSweepStore::Open(path); }, std::move(options));
    ASSERT_TRUE(server.ok()) << server.status();
    second_ = *std::move(server);
    standby_ = v1::Standby::NewStub(
        grpc::CreateChannel(second_->address(), grpc::InsecureChannelCredentials()));
  }
  bool HasAll() const {
    const Standing standing = second_->GetStanding();
    return standing.lag && standing.lag->complete && standing.lag->connected &&
           standing.lag->transactions == 0 &&
           server_->GetStanding().standbys.front().transactions == 0;
  }
  grpc::Status TakeOver(v1::TakeOverResponse* response) {
    grpc::ClientContext context;
    return standby_->TakeOver(&context, {}, response);
  }
  v1::GetStandingResponse StandingOfSecond() {
    grpc::ClientContext context;
    v1::GetStandingResponse response;
    EXPECT_TRUE(standby_->GetStanding(&context, {}, &response).ok());
    return response;
  }
  // Calls go to the second server from now on.
  void UseSecond() {
    channel_ = grpc::CreateChannel(second_->address(), grpc::InsecureChannelCredentials());
    sweeps_ = v1::Sweeps::NewStub(channel_);
    agents_ = v1::Agents::NewStub(channel_);
  }
  // Creates a sweep, which the second server has when it takes over, and uses that server.
  void TakeOverWith(v1::Sweep* sweep) {
    ASSERT_TRUE(Create(TinySweep(1), sweep).ok());
    StartSecond();
    ASSERT_TRUE(WaitFor([this] { return HasAll(); }));
    v1::TakeOverResponse taken;
    ASSERT_TRUE(TakeOver(&taken).ok());
    UseSecond();
  }
  // Returns the status with which a server ends the stream of an agent that says this first, or OK
  // if it registers the agent.
  grpc::Status Register(const v1::Register& message) {
    grpc::ClientContext context;
    const auto stream = agents_->Connect(&context);
    v1::AgentMessage first;
    *first.mutable_register_() = message;
    stream->Write(first);
    v1::ServerMessage answer;
    if (stream->Read(&answer) && answer.has_registered()) {
      registered_ = answer.registered();
      context.TryCancel();
      stream->Finish();
      return grpc::Status::OK;
    }
    return stream->Finish();
  }
  static v1::Register SomeAgent() {
    v1::Register message;
    message.set_name("a");
    message.set_instance("i");
    message.set_host("h");
    message.set_protocol(wire::kAgentProtocol);
    message.mutable_device_set()->set_device_kind(v1::DEVICE_KIND_CPU);
    message.mutable_device_set()->set_devices(4);
    return message;
  }

  std::unique_ptr<Server> second_;
  std::unique_ptr<v1::Standby::Stub> standby_;
  v1::Registered registered_;
};

TEST_F(TakeoverTest, AStandbyFollowsAndTakesOverWithTheSameIdentity) {
  v1::Sweep before;
  ASSERT_TRUE(Create(TinySweep(2), &before).ok());
  StartSecond();
  ASSERT_TRUE(WaitFor([this] { return HasAll(); }));
  v1::Sweep later;
  ASSERT_TRUE(Create(TinySweep(2), &later).ok());
  ASSERT_TRUE(WaitFor([this] { return HasAll(); }));
  EXPECT_FALSE(second_->decides());
  v1::GetStandingResponse standing = StandingOfSecond();
  EXPECT_TRUE(standing.is_standby());
  EXPECT_EQ(standing.follows(), server_->address());
  EXPECT_EQ(standing.store_id(), server_->GetStanding().store_id);
  EXPECT_EQ(standing.epoch(), 1);

  v1::TakeOverResponse taken;
  const grpc::Status status = TakeOver(&taken);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(taken.epoch(), 2);
  EXPECT_TRUE(second_->decides());
  // The first one was told, although nobody else called it.
  EXPECT_THAT(server_->ended().message(), HasSubstr(second_->address()));
  v1::Sweep sweep;
  EXPECT_EQ(Get(later.name(), &sweep).error_code(), grpc::StatusCode::UNAVAILABLE);
  UseSecond();
  EXPECT_TRUE(Get(before.name(), &sweep).ok());
  EXPECT_TRUE(Get(later.name(), &sweep).ok());
  standing = StandingOfSecond();
  EXPECT_FALSE(standing.is_standby());
  EXPECT_EQ(standing.epoch(), 2);
  EXPECT_EQ(TakeOver(&taken).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
}

TEST_F(TakeoverTest, AStandbyAnswersNobodyElse) {
  StartSecond();
  const std::string first = server_->address();
  UseSecond();
  v1::Sweep sweep;
  const grpc::Status status = Get("sweeps/s", &sweep);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(status.error_message(), HasSubstr(first));
  EXPECT_EQ(Register(SomeAgent()).error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(TakeoverTest, WithoutACopyThereIsNothingToTakeOver) {
  const std::string address = server_->address();
  server_->Stop();
  StartSecond();
  v1::TakeOverResponse taken;
  EXPECT_EQ(TakeOver(&taken).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_TRUE(second_->ended().ok());
  // Once the first server is there, it follows.
  server_.reset();
  StartServer(address);
  ASSERT_TRUE(WaitFor([this] { return second_->GetStanding().lag->complete; }));
  EXPECT_TRUE(TakeOver(&taken).ok());
}

TEST_F(TakeoverTest, ACopyOfAnotherStoreEndsTheStandby) {
  ASSERT_TRUE(db::SqliteSweepStore::Open(folder_ + "/other.db").ok());
  StartSecond("other.db");
  ASSERT_TRUE(WaitFor([this] { return !second_->ended().ok(); }));
  EXPECT_THAT(second_->ended().message(), HasSubstr("another store"));
}

TEST_F(TakeoverTest, AnAgentThatMetALaterEpochIsRefusedAndEndsNothing) {
  v1::Register message = SomeAgent();
  v1::StoreEpoch* known = message.add_known_epochs();
  known->set_store_id("ab");
  known->set_epoch(7);
  EXPECT_TRUE(Register(message).ok());
  EXPECT_EQ(registered_.epoch(), 1);
  EXPECT_TRUE(server_->ended().ok());
  known->set_store_id(registered_.store_id());
  known->set_epoch(2);
  known->set_address("10.0.0.2:7077");
  const grpc::Status refused = Register(message);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(refused.error_message(), HasSubstr("10.0.0.2:7077"));
  // An agent's word ends no server: others are served.
  EXPECT_TRUE(server_->ended().ok());
  EXPECT_TRUE(Register(SomeAgent()).ok());
}

TEST_F(TakeoverTest, ResultsThatTheFirstServerAcknowledgedAndTheStandbyLackedAreNamed) {
  v1::Sweep sweep;
  TakeOverWith(&sweep);
  v1::Register message = SomeAgent();
  for (const int64_t epoch : {1, 2}) {
    v1::KeptResult* kept = message.add_kept();
    kept->mutable_ref()->set_trial(sweep.name() + "/trials/" + std::to_string(epoch));
    kept->mutable_ref()->set_attempt(1);
    kept->set_store_id(server_->GetStanding().store_id);
    kept->set_acknowledged_epoch(epoch);
  }
  EXPECT_TRUE(Register(message).ok());
  const v1::GetStandingResponse standing = StandingOfSecond();
  ASSERT_EQ(standing.missing_results_size(), 1);
  EXPECT_EQ(standing.missing_results(0).trial(), sweep.name() + "/trials/1");
  EXPECT_EQ(standing.missing_results(0).agent(), "a");
  EXPECT_EQ(standing.missing_results(0).acknowledged_epoch(), 1);
}

TEST_F(TakeoverTest, AttemptsOfALaterEpochHaveOtherNumbers) {
  v1::Sweep sweep;
  TakeOverWith(&sweep);
  TestAgent agent(second_->address(), "a",
                  [](const trial::TrialPlan&, const trial::TrialRunnerOptions&) {
                    trial::TrialResult result;
                    result.outcome = trial::TrialOutcome::kOom;
                    result.message = "out of memory";
                    return result;
                  });
  Watch(sweep.name());
  const std::vector<v1::Trial> trials = Trials(sweep.name());
  ASSERT_EQ(trials.size(), 1u);
  EXPECT_EQ(trials[0].attempt(), 101);
}

}  // namespace
}  // namespace meshwright::server
