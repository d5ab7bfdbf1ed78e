// What odd results, names and clocks do to a server: nothing to anybody else.
#include <chrono>
#include <limits>
#include <list>

#include "base/system/host_port.h"
#include "executor/agent/result_box.h"
#include "executor/wire/protocol.h"
#include "gmock/gmock.h"
#include "tests/few_descriptors.h"
#include "tests/server/http/http_peer.h"
#include "tests/server/server_fixture.h"

namespace meshwright::server {
namespace {

using ::testing::HasSubstr;

class OddPeersTest : public ServerFixture {};

TEST_F(OddPeersTest, AWallClockThatJumpsLosesNoTrial) {
  std::atomic<bool> release{false};
  std::atomic<int> started{0};
  const TestAgent agent(server_->address(), "a", RunUntil(release, started));
  v1::Sweep sweep;
  ASSERT_TRUE(Create(TinySweep(1), &sweep).ok());
  ASSERT_TRUE(WaitFor([&] { return started.load() == 1; }));
  // Some of the jumps come between a heartbeat and a look at the leases.
  for (int i = 0; i < 8; ++i) {
    wall_ahead_s_.fetch_add(40);
    absl::SleepFor(absl::Milliseconds(100));
  }
  wall_ahead_s_.store(-3600);
  absl::SleepFor(absl::Milliseconds(300));
  release.store(true);
  EXPECT_EQ(Watch(sweep.name()).back().kind(), v1::SWEEP_EVENT_KIND_SWEEP_FINISHED);
  EXPECT_EQ(Trials(sweep.name())[0].attempt(), 1);
  EXPECT_EQ(started.load(), 1);
}

// gRPC's own listener never accepts again after it failed once.
TEST_F(OddPeersTest, AServerThatHadNoDescriptorsTakesConnectionsAgain) {
  const HostPort address = *ParseHostPort(server_->address());
  {
    const std::list<HttpPeer> idle(6);
    const FewDescriptors limit(/*spare=*/0);
    for (const HttpPeer& peer : idle) peer.Connect(address);
    absl::SleepFor(absl::Milliseconds(300));
  }
  const auto channel =
      grpc::CreateCustomChannel(server_->address(), grpc::InsecureChannelCredentials(), [] {
        grpc::ChannelArguments arguments;
        arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own
        return arguments;
      }());
  EXPECT_TRUE(
      channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(5)));
}

TEST_F(OddPeersTest, WhatAWorkerPrintsBreaksNoStream) {
  const TestAgent agent(server_->address(), "a",
                        [](const trial::TrialPlan&, const trial::TrialRunnerOptions&) {
                          trial::TrialResult result;
                          result.message = "rank 0 crashed\n\x82 what it printed last";
                          return result;
                        });
  v1::Sweep sweep;
  ASSERT_TRUE(Create(TinySweep(1), &sweep).ok());
  EXPECT_EQ(Watch(sweep.name()).back().kind(), v1::SWEEP_EVENT_KIND_SWEEP_FINISHED);
  EXPECT_EQ(Trials(sweep.name())[0].measured().message(),
            "rank 0 crashed\n\xEF\xBF\xBD what it printed last");
}

TEST_F(OddPeersTest, AResultThatCantBeRightFailsItsTrialOnly) {
  const TestAgent agent(server_->address(), "a",
                        [](const trial::TrialPlan& plan, const trial::TrialRunnerOptions&) {
                          trial::TrialResult result = Measured(plan);
                          result.losses = {std::numeric_limits<double>::quiet_NaN()};
                          return result;
                        });
  v1::Sweep sweep;
  ASSERT_TRUE(Create(TinySweep(2), &sweep).ok());
  EXPECT_EQ(Watch(sweep.name()).back().kind(), v1::SWEEP_EVENT_KIND_SWEEP_FINISHED);
  for (const v1::Trial& trial : Trials(sweep.name())) {
    EXPECT_EQ(trial.state(), v1::TRIAL_STATE_FAILED);
    EXPECT_THAT(trial.reason(), HasSubstr("losses[0]"));
    EXPECT_EQ(trial.unreadable(), "");
  }
}

TEST_F(OddPeersTest, ATrialThatCantBeReadIsMarkedBesideThoseThatCan) {
  const TestAgent agent(server_->address(), "a", RunAtOnce);
  v1::Sweep sweep;
  ASSERT_TRUE(Create(TinySweep(3), &sweep).ok());
  Watch(sweep.name());
  Execute(
      "UPDATE results SET result_json = json_set(result_json, '$.step_s', null) WHERE measurement "
      "= "
      "(SELECT id FROM measurements WHERE trial = 1)");
  Execute("UPDATE candidates SET predicted_json = 'nothing' WHERE number = 2");
  const std::vector<v1::Trial> trials = Trials(sweep.name());
  ASSERT_EQ(trials.size(), 3u);
  EXPECT_THAT(trials[0].unreadable(), HasSubstr("the result: step_s"));
  EXPECT_FALSE(trials[0].has_measured());
  EXPECT_TRUE(trials[0].has_predicted());
  EXPECT_THAT(trials[1].unreadable(), HasSubstr("the prediction"));
  EXPECT_TRUE(trials[1].has_measured());
  EXPECT_EQ(trials[2].unreadable(), "");
}

TEST_F(OddPeersTest, AnySweepThatIsStoredCanBeReadRunAndCancelled) {
  v1::Sweep sweep;
  ASSERT_TRUE(Create(TinySweep(1), &sweep).ok());
  // As earlier releases named it after its model.
  server_.reset();
  Execute("UPDATE sweeps SET name = 'org/my model-1'");
  StartServer("127.0.0.1:0");
  const std::string name = "sweeps/org/my model-1";
  ASSERT_TRUE(Get(name, &sweep).ok());
  EXPECT_EQ(sweep.name(), name);
  ASSERT_EQ(Trials(name).size(), 1u);
  EXPECT_EQ(Trials(name)[0].name(), name + "/trials/1");
  {
    const TestAgent agent(server_->address(), "a", RunAtOnce);
    EXPECT_EQ(Watch(name).back().kind(), v1::SWEEP_EVENT_KIND_SWEEP_FINISHED);
  }
  ASSERT_TRUE(Create(TinySweep(1), &sweep).ok());
  server_.reset();
  Execute("UPDATE sweeps SET name = 'my model-2' WHERE state = 'pending'");
  StartServer("127.0.0.1:0");
  grpc::ClientContext context;
  v1::CancelSweepRequest request;
  request.set_name("sweeps/my model-2");
  ASSERT_TRUE(sweeps_->CancelSweep(&context, request, &sweep).ok());
  EXPECT_EQ(sweep.state(), v1::SWEEP_STATE_CANCELLED);
}

TEST_F(OddPeersTest, NamesASweepAfterAModelWhoseNameIsNone) {
  v1::CreateSweepRequest request = TinySweep(1);
  request.mutable_plan()->mutable_model()->set_config_json(R"({
      "model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 4,
      "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 512})");
  request.mutable_plan()->mutable_model()->set_name("my model (v2)");
  v1::Sweep sweep;
  const grpc::Status status = Create(request, &sweep);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(sweep.name(), "sweeps/my-model-v2-1");
  const TestAgent agent(server_->address(), "a", RunAtOnce);
  EXPECT_EQ(Watch(sweep.name()).back().kind(), v1::SWEEP_EVENT_KIND_SWEEP_FINISHED);
}

// Of an agent with four ranks.
v1::AgentMessage FirstMessage() {
  v1::AgentMessage message;
  message.mutable_register_()->set_name("a");
  message.mutable_register_()->set_protocol(wire::kAgentProtocol);
  message.mutable_register_()->mutable_device_set()->set_device_kind(v1::DEVICE_KIND_CPU);
  message.mutable_register_()->mutable_device_set()->set_devices(4);
  return message;
}

TEST_F(OddPeersTest, AnAnswerThatCantBeReadIsNotAskedForAgain) {
  // Before the agent, which sends no heartbeats: one that was silent gets nothing.
  v1::Sweep sweep;
  ASSERT_TRUE(Create(TinySweep(1), &sweep).ok());
  grpc::ClientContext context;
  const auto stream = agents_->Connect(&context);
  v1::AgentMessage message = FirstMessage();
  ASSERT_TRUE(stream->Write(message));
  v1::ServerMessage received;
  while (!received.has_assignment()) ASSERT_TRUE(stream->Read(&received));
  const std::string token = received.assignment().token();
  // A result under a name that the server can't read is refused, and the stream goes on.
  message.mutable_finished()->mutable_ref()->set_trial("nonsense");
  ASSERT_TRUE(stream->Write(message));
  while (!received.has_ack()) ASSERT_TRUE(stream->Read(&received));
  EXPECT_EQ(received.ack().ref().trial(), "nonsense");
  EXPECT_FALSE(received.ack().accepted());
  // One without its assignment's token is refused, and the trial goes on.
  message.mutable_finished()->mutable_ref()->set_trial(sweep.name() + "/trials/1");
  message.mutable_finished()->mutable_ref()->set_attempt(1);
  message.mutable_finished()->mutable_measurement()->set_mfu(99);
  for (const auto& [wrong, code] : {std::pair("", absl::StatusCode::kUnauthenticated),
                                    std::pair("00", absl::StatusCode::kPermissionDenied)}) {
    message.mutable_finished()->set_token(wrong);
    received.Clear();
    ASSERT_TRUE(stream->Write(message));
    while (!received.has_ack()) ASSERT_TRUE(stream->Read(&received));
    EXPECT_FALSE(received.ack().accepted());
    EXPECT_EQ(received.ack().code(), static_cast<int>(code));
    EXPECT_EQ(Trials(sweep.name())[0].state(), v1::TRIAL_STATE_ASSIGNED);
  }
  message.mutable_finished()->set_token(token);
  // One of an unknown kind is that trial's end.
  message.mutable_finished()->mutable_ref()->set_trial(sweep.name() + "/trials/1");
  message.mutable_finished()->mutable_ref()->set_attempt(1);
  message.mutable_finished()->mutable_measurement()->set_outcome(static_cast<v1::Outcome>(77));
  received.Clear();
  ASSERT_TRUE(stream->Write(message));
  while (!received.has_ack()) ASSERT_TRUE(stream->Read(&received));
  EXPECT_TRUE(received.ack().accepted());
  EXPECT_EQ(Trials(sweep.name())[0].state(), v1::TRIAL_STATE_FAILED);
  EXPECT_THAT(Trials(sweep.name())[0].reason(), HasSubstr("outcome = 77"));
  stream->WritesDone();
  context.TryCancel();
  stream->Finish();
}

TEST_F(OddPeersTest, SlotsThatAreNoEqualPartsAreRefused) {
  for (const int32_t slots : {3, 65, -1}) {
    grpc::ClientContext context;
    const auto stream = agents_->Connect(&context);
    v1::AgentMessage message = FirstMessage();
    message.mutable_register_()->set_slots(slots);
    ASSERT_TRUE(stream->Write(message));
    v1::ServerMessage received;
    EXPECT_FALSE(stream->Read(&received));
    const grpc::Status status = stream->Finish();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_THAT(status.error_message(), HasSubstr("register.slots = " + std::to_string(slots)));
  }
}

TEST_F(OddPeersTest, MemoryThatNoDeviceHasIsRefused) {
  for (const int64_t bytes : {int64_t{-1}, std::numeric_limits<int64_t>::max()}) {
    grpc::ClientContext context;
    const auto stream = agents_->Connect(&context);
    v1::AgentMessage message = FirstMessage();
    message.mutable_register_()->mutable_device_set()->set_memory_bytes(bytes);
    ASSERT_TRUE(stream->Write(message));
    v1::ServerMessage received;
    EXPECT_FALSE(stream->Read(&received));
    EXPECT_THAT(stream->Finish().error_message(), HasSubstr("register.device_set.memory_bytes"));
  }
}

TEST_F(OddPeersTest, AnAgentOfAnotherProtocolIsToldWhatToDo) {
  grpc::ClientContext context;
  const auto stream = agents_->Connect(&context);
  v1::AgentMessage message;
  message.mutable_register_()->set_name("old");
  message.mutable_register_()->set_version("0.0.9");
  message.mutable_register_()->mutable_device_set()->set_devices(4);
  ASSERT_TRUE(stream->Write(message));
  v1::ServerMessage received;
  EXPECT_FALSE(stream->Read(&received));
  const grpc::Status status = stream->Finish();
  // One that ends an agent of any version.
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(),
            "register.protocol = 0: the agent, version 0.0.9, is older than the server, which "
            "speaks protocol 3: start one of the server's version");
}

TEST_F(OddPeersTest, ResultsOfSeveralStoresFindTheirs) {
  std::atomic<bool> release{false};
  std::atomic<int> started{0};
  const std::string state = folder_ + "/results";
  const auto kept = [&] { return agent::ResultBox::Open(state)->kept().size(); };
  const auto keep_other = [&](const std::string& store_id) {
    agent::KeptResult other;
    other.store_id = store_id;
    other.key = {"tinystories-15m-1", 1, 1};
    ASSERT_TRUE(agent::ResultBox::Open(state)->Add(other).ok());
  };
  v1::Sweep sweep;
  ASSERT_TRUE(Create(TinySweep(1), &sweep).ok());
  // Before and behind this server's result lie those of others.
  keep_other("00");
  auto agent =
      std::make_unique<TestAgent>(server_->address(), "a", RunUntil(release, started), state);
  ASSERT_TRUE(WaitFor([&] { return started.load() == 1; }));
  const std::string address = server_->address();
  server_.reset();
  release.store(true);
  ASSERT_TRUE(WaitFor([&] { return kept() == 2; }));
  agent.reset();
  keep_other("11");
  StartServer(address);
  agent = std::make_unique<TestAgent>(address, "a", RunUntil(release, started), state);
  EXPECT_EQ(Watch(sweep.name()).back().kind(), v1::SWEEP_EVENT_KIND_SWEEP_FINISHED);
  EXPECT_EQ(Trials(sweep.name())[0].attempt(), 1);
  EXPECT_EQ(started.load(), 1);
  EXPECT_TRUE(WaitFor([&] { return kept() == 2; }));
}

}  // namespace
}  // namespace meshwright::server
