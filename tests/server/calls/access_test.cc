// A server that listens over TLS: whom it lets in, as what, and what it tells the others.
#include "server/calls/access.h"

#include <memory>
#include <string>
#include <utility>

#include "server/calls/method_roles.h"
#include "tests/server/access_fixture.h"

namespace meshwright::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

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
                  grpc::StatusCode::UNAUTHENTICATED,
                  "the call has neither a token nor a certificate");
  }
  const std::string unknown = "/meshwright.v1.Sweeps/Nothing";
  ExpectRefused(CallPath(Anonymous(), unknown), grpc::StatusCode::UNAUTHENTICATED,
                "neither a token");
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
  const std::vector<LogEntry> refused = Logged("token ann has the role viewer");
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused[0].level, LogLevel::kWarning);
  EXPECT_EQ(refused[0].about.method, "meshwright.v1.Sweeps/CreateSweep");
  EXPECT_EQ(refused[0].about.caller, "token ann");
  EXPECT_EQ(refused[0].about.code, "PERMISSION_DENIED");
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
       {std::pair("", "the certificate names no caller"),
        std::pair("DNS:ann", "the certificate names no caller"),
        std::pair("URI:meshwright://admin/ann", "there is no such role"),
        std::pair("URI:meshwright://viewer", "it has no name"),
        std::pair("URI:meshwright://viewer/a b", "names no caller"),
        std::pair("URI:meshwright://viewer/ann,URI:meshwright://operator/ann",
                  "names a second caller")}) {
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
                grpc::StatusCode::UNAUTHENTICATED,
                "the call has neither a token nor a certificate");
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
