// FakeServer is a server that a test controls: it gives the agent's messages to the test, and sends
// the messages that the test chooses.
#pragma once

#include <memory>
#include <string>

#include "executor/agent/inbox.h"
#include "executor/wire/protocol.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "gtest/gtest.h"
#include "meshwright/v1/agents.grpc.pb.h"

namespace meshwright::agent {

class FakeServer final : public v1::Agents::Service {
 public:
  FakeServer() {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    address_ = "127.0.0.1:" + std::to_string(port);
  }
  ~FakeServer() override {
    EndStream();
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
  }
  const std::string& address() const { return address_; }

  // Answers the agent's first message and returns it.
  v1::Register Register(const std::string& store_id, int32_t protocol = wire::kAgentProtocol,
                        double lease_s = 30.0, int64_t epoch = 1) {
    v1::Register message = Next(v1::AgentMessage::kRegister).register_();
    v1::ServerMessage answer;
    answer.mutable_registered()->set_protocol(protocol);
    answer.mutable_registered()->set_store_id(store_id);
    answer.mutable_registered()->set_epoch(epoch);
    answer.mutable_registered()->set_lease_s(lease_s);
    answer.mutable_registered()->set_heartbeat_s(0.05);
    Send(answer);
    return message;
  }
  void Assign(const std::string& trial, const std::string& plan_json, int32_t first_device = 0) {
    v1::ServerMessage message = AssignmentOf(trial, plan_json);
    message.mutable_assignment()->set_first_device(first_device);
    Send(message);
  }
  // Sends member `member` its assignment of an attempt of two ranks, which agents a and b share.
  void AssignOneOfTwo(const std::string& trial, const std::string& plan_json, int32_t member) {
    v1::ServerMessage message = AssignmentOf(trial, plan_json);
    v1::Gang* gang = message.mutable_assignment()->mutable_gang();
    for (const char* name : {"a", "b"}) {
      v1::AttemptMember* part = gang->add_members();
      part->set_agent(name);
      part->set_host("h");
      part->set_first_rank(gang->members_size() - 1);
      part->set_ranks(1);
    }
    gang->set_member(member);
    gang->set_secret("secret of " + trial);
    Send(message);
  }
  void Start(const std::string& trial, const std::string& rendezvous) {
    v1::ServerMessage message;
    message.mutable_start()->mutable_ref()->set_trial(trial);
    message.mutable_start()->mutable_ref()->set_attempt(1);
    message.mutable_start()->set_rendezvous(rendezvous);
    Send(message);
  }
  void Cancel(const std::string& trial) {
    v1::ServerMessage message;
    message.mutable_cancel()->mutable_ref()->set_trial(trial);
    message.mutable_cancel()->mutable_ref()->set_attempt(1);
    message.mutable_cancel()->set_reason("another member failed");
    Send(message);
  }
  void AcknowledgeHeartbeat(int64_t number) {
    v1::ServerMessage message;
    message.mutable_heartbeat_ack()->set_number(number);
    Send(message);
  }
  void Acknowledge(const v1::AttemptRef& ref, double keep_s = 0.0) {
    v1::ServerMessage message;
    message.mutable_ack()->set_keep_s(keep_s);
    *message.mutable_ack()->mutable_ref() = ref;
    message.mutable_ack()->set_accepted(true);
    Send(message);
  }
  // Returns the next message of this kind, skipping others.
  v1::AgentMessage Next(v1::AgentMessage::MessageCase kind) {
    while (true) {
      std::optional<v1::AgentMessage> message = received_.Pop(absl::Seconds(20));
      EXPECT_TRUE(message.has_value()) << "nothing came of the kind " << kind;
      if (!message || message->message_case() == kind) return message.value_or(v1::AgentMessage());
    }
  }
  void EndStream() {
    const std::lock_guard lock(mutex_);
    if (context_ != nullptr) context_->TryCancel();
  }

 private:
  using Stream = grpc::ServerReaderWriter<v1::ServerMessage, v1::AgentMessage>;

  static v1::ServerMessage AssignmentOf(const std::string& trial, const std::string& plan_json) {
    v1::ServerMessage message;
    message.mutable_assignment()->mutable_ref()->set_trial(trial);
    message.mutable_assignment()->mutable_ref()->set_attempt(1);
    message.mutable_assignment()->set_plan_json(plan_json);
    message.mutable_assignment()->set_token("token of " + trial);
    return message;
  }

  grpc::Status Connect(grpc::ServerContext* context, Stream* stream) override {
    {
      const std::lock_guard lock(mutex_);
      context_ = context;
      stream_ = stream;
    }
    v1::AgentMessage message;
    // Like a real server, ends the stream of an agent that leaves.
    for (bool leaves = false; !leaves && stream->Read(&message);) {
      leaves = message.has_goodbye();
      received_.Push(message);
    }
    const std::lock_guard lock(mutex_);
    // An agent whose stream was cancelled may reconnect before this function returns for the old
    // stream.
    if (stream_ == stream) {
      context_ = nullptr;
      stream_ = nullptr;
    }
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "ended");
  }

  void Send(const v1::ServerMessage& message) {
    const std::lock_guard lock(mutex_);
    ASSERT_NE(stream_, nullptr);
    stream_->Write(message);
  }

  Inbox<v1::AgentMessage> received_;
  std::mutex mutex_;
  grpc::ServerContext* context_ = nullptr;
  Stream* stream_ = nullptr;
  std::string address_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace meshwright::agent
