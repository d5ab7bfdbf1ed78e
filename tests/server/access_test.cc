// A server that listens over TLS: whom it lets in, as what, and what it tells the others.
#include "server/access.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "db/token_store.h"
#include "gmock/gmock.h"
#include "grpcpp/generic/generic_stub.h"
#include "proto/server_access.h"
#include "server/method_roles.h"
#include "tests/server/server_fixture.h"
#include "tests/server/test_certificates.h"

namespace meshwright::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

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
    auto server =
        Server::Start([this] { return db::SqliteSweepStore::Open(db()); }, std::move(options));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  // As `meshwright token create` makes one, while the server runs.
  std::string Token(const std::string& name, db::Role role, const std::string& agent = "",
                    std::optional<absl::Duration> lives = std::nullopt) {
    const std::string token = *db::NewToken();
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

  // A call with an empty message to any path, of a service of ours or not.
  static grpc::Status CallPath(const ServerAccess& access, const std::string& path) {
    const std::shared_ptr<grpc::Channel> channel = Dial(access);
    grpc::GenericStub stub(channel);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    grpc::CompletionQueue queue;
    const grpc::Slice empty;
    const grpc::ByteBuffer request(&empty, 1);
    const auto call = stub.PrepareUnaryCall(&context, path, request, &queue);
    call->StartCall();
    grpc::ByteBuffer reply;
    grpc::Status status;
    call->Finish(&reply, &status, nullptr);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    return status;
  }

  static void ExpectRefused(const grpc::Status& status, grpc::StatusCode code,
                            const std::string& part) {
    EXPECT_EQ(status.error_code(), code) << status.error_message();
    EXPECT_THAT(status.error_message(), HasSubstr(part));
  }
  static void ExpectOk(const grpc::Status& status) {
    EXPECT_TRUE(status.ok()) << status.error_message();
  }

  TestAuthority authority_;
  std::string folder_;
  std::atomic<int64_t> ahead_s_{0};  // how far the server's clock was moved
  std::unique_ptr<Server> server_;
};

TEST_F(AccessTest, OnlyLoopbackGoesWithoutTls) {
  for (const char* listen : {"127.0.0.1:0", "127.9.9.9:7077", "localhost:7077", "[::1]:0"}) {
    EXPECT_TRUE(CheckListenAddress(listen, false).ok()) << listen;
  }
  for (const char* listen : {"0.0.0.0:7077", "10.0.0.1:7077", "[::]:7077", "node-1:7077",
                             "127.0.0.1.example.com:7077"}) {
    const absl::Status status = CheckListenAddress(listen, false);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << listen;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr(listen), HasSubstr("--tls-cert"), HasSubstr("127.0.0.1")));
    EXPECT_TRUE(CheckListenAddress(listen, true).ok()) << listen;
  }
  EXPECT_FALSE(CheckListenAddress("nonsense", true).ok());
}

TEST_F(AccessTest, WhoSaysNothingIsToldWhatToDo) {
  StartServer(authority_.certificate());
  ExpectRefused(List(Anonymous()), grpc::StatusCode::UNAUTHENTICATED, "--token-file");
  v1::Sweep sweep;
  ExpectRefused(Create(Anonymous(), &sweep), grpc::StatusCode::UNAUTHENTICATED, "--tls-cert");
}

TEST_F(AccessTest, OnlyHealthIsToldToAnybody) {
  StartServer("");
  ExpectOk(CallPath(Anonymous(), "/grpc.health.v1.Health/Check"));
  for (const MethodRole& method : MethodRoles()) {
    if (method.needs == Needs::kNothing) continue;
    ExpectRefused(CallPath(Anonymous(), std::string(method.path)),
                  grpc::StatusCode::UNAUTHENTICATED, "asks who calls");
  }
  const std::string unknown = "/meshwright.v1.Sweeps/Nothing";
  ExpectRefused(CallPath(Anonymous(), unknown), grpc::StatusCode::UNAUTHENTICATED, "who calls");
  ExpectRefused(CallPath(With(Token("bob", db::Role::kOperator)), unknown),
                grpc::StatusCode::UNIMPLEMENTED, unknown);
}

// The one list of roles is asked for every method, with every role.
TEST_F(AccessTest, EachMethodAsksForItsRole) {
  StartServer("");
  for (const auto& [role, name] : db::kRoleNames) {
    const ServerAccess access =
        With(Token(std::string(name), role, role == db::Role::kAgent ? "node-1" : ""));
    for (const MethodRole& method : MethodRoles()) {
      if (method.needs == Needs::kNothing || MayCall(role, method.needs)) continue;
      ExpectRefused(CallPath(access, std::string(method.path)), grpc::StatusCode::PERMISSION_DENIED,
                    "has the role " + std::string(name) + ", and ");
    }
  }
}

TEST_F(AccessTest, ATokenGivesItsRole) {
  StartServer("");
  const ServerAccess viewer = With(Token("ann", db::Role::kViewer));
  const ServerAccess operates = With(Token("bob", db::Role::kOperator));
  const ServerAccess agent = With(Token("node", db::Role::kAgent, "node-1"));
  v1::Sweep sweep;
  ExpectOk(List(viewer));
  ExpectRefused(Create(viewer, &sweep), grpc::StatusCode::PERMISSION_DENIED,
                "token ann has the role viewer, and meshwright.v1.Sweeps/CreateSweep needs "
                "operator");
  ExpectOk(List(operates));
  ExpectOk(Create(operates, &sweep));
  ExpectRefused(List(agent), grpc::StatusCode::PERMISSION_DENIED, "needs viewer or operator");
  ExpectRefused(Create(agent, &sweep), grpc::StatusCode::PERMISSION_DENIED, "role agent");
  // And who caused it is told.
  EXPECT_EQ(FirstEvent(viewer, sweep.name()).actor(), "token bob");
}

TEST_F(AccessTest, ACertificateGivesItsRole) {
  StartServer(authority_.certificate());
  const ServerAccess viewer = With(authority_.Issue("URI:meshwright://viewer/ann"));
  const ServerAccess operates =
      With(authority_.Issue("DNS:somewhere,URI:https://x/y,URI:meshwright://operator/bob"));
  v1::Sweep sweep;
  ExpectOk(List(viewer));
  ExpectRefused(Create(viewer, &sweep), grpc::StatusCode::PERMISSION_DENIED,
                "certificate ann has the role viewer");
  ExpectOk(Create(operates, &sweep));
  EXPECT_EQ(FirstEvent(viewer, sweep.name()).actor(), "certificate bob");
}

TEST_F(AccessTest, ACertificateThatNamesNobodyIsRefused) {
  StartServer(authority_.certificate());
  for (const auto& [names, part] :
       {std::pair("", "does not say who calls"), std::pair("DNS:ann", "does not say who calls"),
        std::pair("URI:meshwright://admin/ann", "there is no such role"),
        std::pair("URI:meshwright://viewer", "it has no name"),
        std::pair("URI:meshwright://viewer/a b", "names no caller"),
        std::pair("URI:meshwright://viewer/ann,URI:meshwright://operator/ann",
                  "another one names a caller too")}) {
    ExpectRefused(List(With(authority_.Issue(names))), grpc::StatusCode::UNAUTHENTICATED, part);
  }
}

TEST_F(AccessTest, ACertificateOfAnotherAuthorityConnectsNowhere) {
  StartServer(authority_.certificate());
  const TestAuthority stranger;
  EXPECT_EQ(List(With(stranger.Issue("URI:meshwright://operator/eve"))).error_code(),
            grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(
      List(With(authority_.Issue("URI:meshwright://operator/bob", -7200, -3600))).error_code(),
      grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(List(With(authority_.Issue("URI:meshwright://operator/bob", 3600, 7200))).error_code(),
            grpc::StatusCode::UNAVAILABLE);
  ExpectOk(List(With(authority_.Issue("URI:meshwright://operator/bob"))));
}

TEST_F(AccessTest, WithoutAClientsAuthorityCertificatesSayNothing) {
  StartServer("");
  ExpectRefused(List(With(authority_.Issue("URI:meshwright://operator/bob"))),
                grpc::StatusCode::UNAUTHENTICATED, "asks who calls");
}

TEST_F(AccessTest, AClientTrustsNoServerOfAnotherAuthorityOrName) {
  StartServer("");
  const std::string token = Token("ann", db::Role::kViewer);
  ServerAccess access = With(token);
  access.ca = TestAuthority().certificate();
  EXPECT_EQ(List(access).error_code(), grpc::StatusCode::UNAVAILABLE);
  server_.reset();
  StartServer(authority_.Issue("IP:10.9.8.7"), "");
  EXPECT_EQ(List(With(token)).error_code(), grpc::StatusCode::UNAVAILABLE);
  server_.reset();
  StartServer(authority_.Issue("IP:127.0.0.1", -7200, -3600), "");
  EXPECT_EQ(List(With(token)).error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(AccessTest, PlainTextReachesNothing) {
  StartServer("");
  ServerAccess access = Anonymous();
  access.ca.clear();
  EXPECT_EQ(List(access).error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(AccessTest, ATokenCountsUntilItIsRevokedOrExpires) {
  StartServer("");
  const ServerAccess ann = With(Token("ann", db::Role::kViewer));
  const ServerAccess bob = With(Token("bob", db::Role::kViewer, "", absl::Hours(1)));
  ExpectOk(List(ann));
  ExpectOk(List(bob));
  Revoke("ann");
  ExpectRefused(List(ann), grpc::StatusCode::UNAUTHENTICATED, "token ann was revoked on 20");
  ExpectOk(List(bob));
  ahead_s_.store(3601);
  ExpectRefused(List(bob), grpc::StatusCode::UNAUTHENTICATED, "token bob expired on 20");
}

TEST_F(AccessTest, ATokenOfAnotherDatabaseIsNone) {
  StartServer("");
  ExpectRefused(List(With(*db::NewToken())), grpc::StatusCode::UNAUTHENTICATED, "no such token");
  grpc::ClientContext context;
  context.AddMetadata("authorization", "Basic YW5uOnNlY3JldA==");
  v1::ListSweepsResponse response;
  ExpectRefused(v1::Sweeps::NewStub(Dial(Anonymous()))->ListSweeps(&context, {}, &response),
                grpc::StatusCode::UNAUTHENTICATED, "Bearer");
}

// Calls of one connection are told apart.
TEST_F(AccessTest, EachCallOfAConnectionSaysWhoCalls) {
  StartServer("");
  const std::string token = Token("ann", db::Role::kViewer);
  const std::unique_ptr<v1::Sweeps::Stub> stub = v1::Sweeps::NewStub(Dial(Anonymous()));
  for (const bool says : {true, false, true}) {
    grpc::ClientContext context;
    if (says) context.AddMetadata("authorization", "Bearer " + token);
    v1::ListSweepsResponse response;
    EXPECT_EQ(stub->ListSweeps(&context, {}, &response).ok(), says);
  }
}

class AgentAccessTest : public AccessTest {
 protected:
  // What an agent of this name ends with, or OK once it is connected.
  absl::Status Register(const ServerAccess& access, const std::string& name) {
    TestAgent agent(access, name, RunAtOnce);
    const ServerAccess viewer =
        With(Token("viewer-" + name + std::to_string(++viewers_), db::Role::kViewer));
    const std::unique_ptr<v1::Agents::Stub> stub = v1::Agents::NewStub(Dial(viewer));
    WaitFor([&] {
      grpc::ClientContext context;
      v1::ListAgentsResponse response;
      return agent.ended() ||
             (stub->ListAgents(&context, {}, &response).ok() && response.agents_size() == 1);
    });
    return agent.Stop();
  }
  int viewers_ = 0;
};

TEST_F(AgentAccessTest, AnAgentsNameIsThatOfItsTokenOrCertificate) {
  StartServer(authority_.certificate());
  const ServerAccess token = With(Token("t", db::Role::kAgent, "node-1"));
  const ServerAccess certificate = With(authority_.Issue("URI:meshwright://agent/node-1"));
  for (const auto& [access, who] :
       {std::pair(token, "token t"), std::pair(certificate, "certificate node-1")}) {
    EXPECT_TRUE(Register(access, "node-1").ok());
    const absl::Status status = Register(access, "node-2");
    EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr(std::string(who) + " belongs to the agent \"node-1\""),
                      HasSubstr("\"node-2\""), HasSubstr("--name node-1")));
  }
}

TEST_F(AgentAccessTest, OnlyAnAgentsRoleConnects) {
  StartServer(authority_.certificate());
  for (const ServerAccess& access : {With(Token("o", db::Role::kOperator)),
                                     With(authority_.Issue("URI:meshwright://operator/node-1"))}) {
    const absl::Status status = Register(access, "node-1");
    EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("needs agent"));
  }
  EXPECT_TRUE(absl::IsUnauthenticated(Register(Anonymous(), "node-1")));
}

TEST_F(AgentAccessTest, AnAgentWhoseTokenIsRevokedLosesItsPlace) {
  StartServer("");
  TestAgent agent(With(Token("t", db::Role::kAgent, "node-1")), "node-1", RunAtOnce);
  const ServerAccess bob = With(Token("bob", db::Role::kOperator));
  v1::Sweep sweep;
  ExpectOk(Create(bob, &sweep));
  EXPECT_TRUE(WaitFor([&] {
    grpc::ClientContext context;
    v1::GetSweepRequest request;
    request.set_name(sweep.name());
    v1::Sweep now;
    return v1::Sweeps::NewStub(Dial(bob))->GetSweep(&context, request, &now).ok() &&
           now.state() == v1::SWEEP_STATE_FINISHED;
  }));
  Revoke("t");
  const absl::Status status = agent.Wait();
  EXPECT_TRUE(absl::IsUnauthenticated(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("token t was revoked"));
}

}  // namespace
}  // namespace meshwright::server
