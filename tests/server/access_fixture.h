// AccessTest is a fixture with a server in this process that listens over TLS, and with tokens,
// certificates and callers for that server.
#pragma once

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "base/system/log.h"
#include "db/token_store.h"
#include "gmock/gmock.h"
#include "proto/server_access.h"
#include "server/server.h"
#include "tests/server/raw_call.h"
#include "tests/server/server_fixture.h"
#include "tests/server/test_certificates.h"

namespace meshwright::server {

class AccessTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/access-" + std::to_string(getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override {
    server_.reset();
    std::filesystem::remove_all(folder_);
  }

  std::string db() const { return folder_ + "/sweeps.db"; }

  void StartServer(const std::string& client_ca) {
    StartServer(authority_.Issue("IP:127.0.0.1"), client_ca);
  }
  void StartServer(const TestIdentity& identity, const std::string& client_ca) {
    ServerOptions options;
    options.listen = "127.0.0.1:0";
    options.host_cores = 4;
    options.version = "test";
    options.clock = [this] { return absl::Now() + absl::Seconds(ahead_s_.load()); };
    options.engine.heartbeat = absl::Milliseconds(100);
    options.tls = {identity.certificate, identity.key, client_ca};
    options.open_tokens = [this] { return db::TokenStore::Open(db()); };
    options.http = http_;
    options.limits = limits_;
    options.recommend = recommend_;
    if (calls_clock_stands_) {
      options.monotonic_clock = [this] {
        return MonotonicTime{absl::Seconds(monotonic_s_.load())};
      };
    }
    options.log = [this](const LogEntry& entry) {
      const absl::MutexLock lock(&log_mutex_);
      log_.push_back(entry);
    };
    auto server =
        Server::Start([this] { return db::SqliteSweepStore::Open(db()); }, std::move(options));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  // Creates a token as `meshwright token create` does while the server runs.
  std::string Token(const std::string& name, db::Role role, const std::string& agent = "",
                    std::optional<absl::Duration> lives = std::nullopt) {
    std::string token = *db::NewToken();
    db::TokenRecord record{.name = name,
                           .hash = db::HashOf(token),
                           .role = role,
                           .agent = agent,
                           .create_time = absl::Now()};
    if (lives) record.expire_time = absl::Now() + *lives;
    const absl::Status status = (*db::TokenStore::Open(db()))->Add(record);
    EXPECT_TRUE(status.ok()) << status;
    return token;
  }
  void Revoke(const std::string& name) {
    const absl::Status status = (*db::TokenStore::Open(db()))->Revoke(name, absl::Now());
    EXPECT_TRUE(status.ok()) << status;
  }

  ServerAccess Anonymous() const {
    return {.address = server_->address(),
            .ca = authority_.certificate(),
            .certificate = {},
            .key = {},
            .token = {}};
  }
  ServerAccess With(const std::string& token) const {
    ServerAccess access = Anonymous();
    access.token = token;
    return access;
  }
  ServerAccess With(const TestIdentity& identity) const {
    ServerAccess access = Anonymous();
    access.certificate = identity.certificate;
    access.key = identity.key;
    return access;
  }
  static std::shared_ptr<grpc::Channel> Dial(const ServerAccess& access) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(access.address, CredentialsOf(access), arguments);
  }

  static grpc::Status List(const ServerAccess& access) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    v1::ListSweepsResponse response;
    return v1::Sweeps::NewStub(Dial(access))->ListSweeps(&context, {}, &response);
  }
  static grpc::Status Create(const ServerAccess& access, v1::Sweep* sweep) {
    v1::CreateSweepRequest request;
    request.mutable_plan()->mutable_model()->set_preset("tinystories-15m");
    request.mutable_plan()->mutable_cluster()->set_preset("local-cpu");
    request.mutable_plan()->set_gpus(4);
    request.mutable_plan()->set_seq_len(64);
    request.mutable_plan()->set_global_batch(8);
    request.set_trials(1);
    grpc::ClientContext context;
    return v1::Sweeps::NewStub(Dial(access))->CreateSweep(&context, request, sweep);
  }
  static v1::SweepEvent FirstEvent(const ServerAccess& access, const std::string& sweep) {
    grpc::ClientContext context;
    v1::WatchSweepRequest request;
    request.set_name(sweep);
    const std::unique_ptr<v1::Sweeps::Stub> stub = v1::Sweeps::NewStub(Dial(access));
    const auto stream = stub->WatchSweep(&context, request);
    v1::SweepEvent event;
    EXPECT_TRUE(stream->Read(&event));
    context.TryCancel();
    stream->Finish();
    return event;
  }

  // Makes a call with an empty message to any path, which no service needs to have.
  static grpc::Status CallPath(const ServerAccess& access, const std::string& path) {
    grpc::ByteBuffer reply;
    return CallRaw(Dial(access), path, "", &reply);
  }

  // A WatchSweep call that is read on its own thread until it ends.
  class Watch {
   public:
    Watch(const ServerAccess& access, const std::string& sweep)
        : stub_(v1::Sweeps::NewStub(Dial(access))) {
      v1::WatchSweepRequest request;
      request.set_name(sweep);
      stream_ = stub_->WatchSweep(&context_, request);
      thread_ = std::thread([this] {
        v1::SweepEvent event;
        while (stream_->Read(&event)) ++events_;
        status_ = stream_->Finish();
        ended_.store(true);
      });
    }
    ~Watch() {
      context_.TryCancel();
      if (thread_.joinable()) thread_.join();
    }
    bool ended() const { return ended_.load(); }
    bool has_events() const { return events_.load() > 0; }
    // Waits for the end of the call and returns its status.
    grpc::Status Wait() {
      EXPECT_TRUE(WaitFor([this] { return ended(); }));
      context_.TryCancel();
      thread_.join();
      return status_;
    }

   private:
    std::unique_ptr<v1::Sweeps::Stub> stub_;
    grpc::ClientContext context_;
    std::unique_ptr<grpc::ClientReader<v1::SweepEvent>> stream_;
    std::atomic<int> events_{0};
    std::atomic<bool> ended_{false};
    grpc::Status status_;
    std::thread thread_;
  };

  // Returns the lines of the server's log that contain this text.
  std::vector<LogEntry> Logged(const std::string& part) {
    const absl::MutexLock lock(&log_mutex_);
    std::vector<LogEntry> found;
    for (const LogEntry& entry : log_) {
      if (entry.message.find(part) != std::string::npos) found.push_back(entry);
    }
    return found;
  }

  static void ExpectRefused(const grpc::Status& status, grpc::StatusCode code,
                            const std::string& part) {
    EXPECT_EQ(status.error_code(), code) << status.error_message();
    EXPECT_THAT(status.error_message(), ::testing::HasSubstr(part));
  }
  static void ExpectOk(const grpc::Status& status) {
    EXPECT_TRUE(status.ok()) << status.error_message();
  }

  TestAuthority authority_;
  std::string folder_;
  std::atomic<int64_t> ahead_s_{0};  // seconds by which the server's clock is ahead
  // Options of servers that are started later.
  LimitOptions limits_;
  std::optional<HttpOptions> http_;
  Recommender recommend_ = planner::AnswerRecommend;
  bool calls_clock_stands_ = false;  // whether the monotonic clock stands still at monotonic_s_
  std::atomic<int64_t> monotonic_s_{0};
  absl::Mutex log_mutex_;
  std::vector<LogEntry> log_ ABSL_GUARDED_BY(log_mutex_);
  std::unique_ptr<Server> server_;
};

}  // namespace meshwright::server
