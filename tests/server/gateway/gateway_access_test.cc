// Who may call over HTTP/1.1 and TLS: tokens, certificates, the login and its sessions.
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/gateway/gateway.h"
#include "tests/server/access_fixture.h"
#include "tests/server/gateway/http_client.h"

namespace meshwright::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kList[] = "/meshwright.v1.Sweeps/ListSweeps";
constexpr char kCreate[] = "/meshwright.v1.Sweeps/CreateSweep";
constexpr char kSweep[] =
    R"({"plan":{"model":{"preset":"tinystories-15m"},"cluster":{"preset":"local-cpu"},)"
    R"("gpus":4,"seq_len":64,"global_batch":8},"trials":1})";

class GatewayAccessTest : public AccessTest {
 protected:
  void Start(const std::string& client_ca = "") {
    http_ = HttpOptions{.listen = "127.0.0.1:0", .stream_interval = absl::Milliseconds(50)};
    StartServer(client_ca);
    caller_ = {.server = *ParseHostPort(server_->http_address()), .tls = true};
  }
  static HttpFields Bearer(const std::string& token) {
    return {{"Authorization", "Bearer " + token}};
  }
  HttpAnswer Login(const std::string& token) const {
    return Post(caller_, "/login", absl::StrCat(R"({"token":")", token, R"("})"));
  }
  // Returns the field that a browser sends after the login.
  static HttpFields CookieOf(const HttpAnswer& login) {
    const std::string set = login.Field("Set-Cookie");
    return {{"Cookie", set.substr(0, set.find(';'))}};
  }
  int ListAs(const HttpFields& fields) const { return Post(caller_, kList, "{}", fields).status; }

  HttpCaller caller_;
};

TEST_F(GatewayAccessTest, AsksWhoCallsAndShowsThePageToAnybody) {
  Start();
  const HttpAnswer answer = Post(caller_, kList, "{}");
  EXPECT_EQ(answer.status, 401);
  EXPECT_EQ(answer.Json()["code"], "UNAUTHENTICATED");
  EXPECT_EQ(answer.Field("WWW-Authenticate"), "Bearer");
  EXPECT_EQ(Post(caller_, "/session", "{}").status, 401);
  EXPECT_EQ(Ask(caller_, "GET", "/metrics").status, 404);  // this server has none
  EXPECT_THAT(Ask(caller_, "GET", "/").status, testing::AnyOf(200, 404));
  EXPECT_EQ(Ask({.server = caller_.server}, "GET", "/").status, 0);  // plain text
}

TEST_F(GatewayAccessTest, ATokenGivesItsRole) {
  Start();
  const HttpFields viewer = Bearer(Token("ann", db::Role::kViewer));
  const HttpFields operates = Bearer(Token("bob", db::Role::kOperator));
  const HttpFields agent = Bearer(Token("node", db::Role::kAgent, "node-1"));
  EXPECT_EQ(ListAs(viewer), 200);
  const HttpAnswer write = Post(caller_, kCreate, kSweep, viewer);
  EXPECT_EQ(write.status, 403);
  EXPECT_THAT(write.Json()["message"].get<std::string>(),
              HasSubstr("token ann has the role viewer, and meshwright.v1.Sweeps/CreateSweep needs "
                        "operator"));
  EXPECT_EQ(Logged("token ann has the role viewer").size(), 1u);
  EXPECT_EQ(ListAs(agent), 403);
  EXPECT_EQ(ListAs(Bearer("mwt_wrong")), 401);
  EXPECT_EQ(ListAs({{"Authorization", "Basic YTpi"}}), 401);
  EXPECT_EQ(ListAs({viewer[0], viewer[0]}), 401);
  const HttpAnswer created = Post(caller_, kCreate, kSweep, operates);
  ASSERT_EQ(created.status, 200) << created.body;
  // And who caused it is told.
  const HttpAnswer watched = Post(
      caller_, "/meshwright.v1.Sweeps/GetSweep",
      absl::StrCat(R"({"name":")", created.Json()["name"].get<std::string>(), R"("})"), viewer);
  EXPECT_EQ(watched.status, 200);
  EXPECT_EQ(FirstEvent(With(Token("eve", db::Role::kViewer)), created.Json()["name"]).actor(),
            "token bob");
}

TEST_F(GatewayAccessTest, NobodyIntroducesHimself) {
  Start();
  EXPECT_EQ(ListAs({{kIntroduction, "x"}}), 401);
  const std::string viewer = Token("ann", db::Role::kViewer);
  grpc::ClientContext context;
  context.AddMetadata("authorization", "Bearer " + viewer);
  context.AddMetadata(kIntroduction, std::string(64, '0'));
  v1::ListSweepsResponse response;
  ExpectOk(v1::Sweeps::NewStub(Dial(Anonymous()))->ListSweeps(&context, {}, &response));
}

TEST_F(GatewayAccessTest, ACertificateIsAskedForAndNotNeeded) {
  Start(authority_.certificate());
  const TestIdentity viewer = authority_.Issue("URI:meshwright://viewer/ann");
  const TestIdentity nameless = authority_.Issue("DNS:somewhere");
  const TestIdentity foreign = TestAuthority().Issue("URI:meshwright://viewer/ann");
  const auto with = [&](const TestIdentity& identity) {
    HttpCaller caller = caller_;
    caller.identity = &identity;
    return caller;
  };
  EXPECT_EQ(Post(with(viewer), kList, "{}").status, 200);
  EXPECT_THAT(Post(with(viewer), kCreate, kSweep).Json()["message"].get<std::string>(),
              HasSubstr("certificate ann has the role viewer"));
  EXPECT_EQ(Post(with(nameless), kList, "{}").status, 401);
  EXPECT_EQ(Post(with(foreign), kList, "{}").status, 0);
  EXPECT_EQ(Post(caller_, kList, "{}").status, 401);
  EXPECT_EQ(Login(Token("bob", db::Role::kViewer)).status, 204);
  ahead_s_ = 2 * 3600;  // beyond the certificate's end
  EXPECT_EQ(Post(with(viewer), kList, "{}").status, 401);
}

TEST_F(GatewayAccessTest, ALoginGivesACookieThatIsNotTheToken) {
  Start();
  const std::string token = Token("bob", db::Role::kOperator);
  const HttpAnswer login = Login(token);
  EXPECT_EQ(login.status, 204);
  EXPECT_THAT(login.Field("Set-Cookie"),
              AllOf(HasSubstr("__Host-meshwright="), HasSubstr("; Secure"), HasSubstr("; HttpOnly"),
                    HasSubstr("; SameSite=Strict"), HasSubstr("; Path=/;"),
                    Not(HasSubstr("Domain")), Not(HasSubstr(token)), Not(HasSubstr("mwt_"))));
  const HttpFields cookie = CookieOf(login);
  EXPECT_EQ(ListAs(cookie), 200);
  const nlohmann::json session = Post(caller_, "/session", "{}", cookie).Json();
  EXPECT_EQ(session["name"], "bob");
  EXPECT_EQ(session["role"], "operator");
  EXPECT_EQ(session["secure"], true);
  EXPECT_EQ(session["login"], true);
  EXPECT_EQ(Post(caller_, kCreate, kSweep, cookie).status, 200);
  // Two logins are two sessions.
  EXPECT_NE(CookieOf(Login(token)), cookie);
}

TEST_F(GatewayAccessTest, APageOfAnotherSiteCanNotUseTheCookie) {
  Start();
  HttpFields cookie = CookieOf(Login(Token("bob", db::Role::kOperator)));
  cookie.emplace_back("Origin", "https://evil.example");
  EXPECT_EQ(Post(caller_, kCreate, kSweep, cookie).status, 403);
  cookie.back().second = "https://" + server_->http_address();
  EXPECT_EQ(Post(caller_, kCreate, kSweep, cookie).status, 200);
  HttpFields rebound = cookie;
  rebound.pop_back();
  rebound.emplace_back("Host", "evil.example");
  EXPECT_EQ(Post(caller_, kCreate, kSweep, rebound).status, 403);
}

TEST_F(GatewayAccessTest, ASessionEndsAtLogoutWithItsTokenAndWithTime) {
  Start();
  const std::string token = Token("bob", db::Role::kViewer);
  const HttpFields first = CookieOf(Login(token));
  const HttpFields second = CookieOf(Login(token));
  EXPECT_EQ(Post(caller_, "/logout", "{}", first).status, 204);
  EXPECT_EQ(ListAs(first), 401);
  EXPECT_EQ(Post(caller_, "/session", "{}", first).status, 401);
  EXPECT_EQ(ListAs(second), 200);
  ahead_s_ = 12 * 3600 - 60;
  EXPECT_EQ(ListAs(second), 200);
  ahead_s_ = 12 * 3600 + 1;
  EXPECT_EQ(ListAs(second), 401);
  ahead_s_ = 0;
  EXPECT_EQ(ListAs(second), 200);
  Revoke("bob");
  EXPECT_EQ(ListAs(second), 401);  // a stolen cookie too
  EXPECT_EQ(Login(token).status, 401);
  const HttpFields expiring =
      CookieOf(Login(Token("eve", db::Role::kViewer, "", absl::Minutes(1))));
  EXPECT_EQ(ListAs(expiring), 200);
  ahead_s_ = 61;
  EXPECT_EQ(ListAs(expiring), 401);
}

TEST_F(GatewayAccessTest, FiveTriesAMinute) {
  calls_clock_stands_ = true;
  Start();
  const std::string token = Token("bob", db::Role::kViewer);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Login("mwt_guess").status, 401);
  const HttpAnswer refused = Login(token);
  EXPECT_EQ(refused.status, 429);
  EXPECT_THAT(refused.Json()["message"].get<std::string>(), HasSubstr("60 s"));
  EXPECT_EQ(ListAs(Bearer(token)), 200);
  monotonic_s_ = 60;
  EXPECT_EQ(Login(token).status, 204);
}

TEST_F(GatewayAccessTest, WrongLoginsAreTold) {
  Start();
  EXPECT_EQ(Post(caller_, "/login", "{}").status, 400);
  EXPECT_EQ(Post(caller_, "/login", R"({"token":5})").status, 400);
  const HttpAnswer agent = Login(Token("node", db::Role::kAgent, "node-1"));
  EXPECT_EQ(agent.status, 403);
  EXPECT_THAT(agent.body, HasSubstr("viewer or operator"));
  const HttpAnswer text = Post(caller_, "/login", "mwt_secret");
  EXPECT_EQ(text.status, 400);
  EXPECT_THAT(text.body, Not(HasSubstr("mwt_secret")));
}

TEST_F(GatewayAccessTest, CallsAreCountedWithThoseOfGrpc) {
  calls_clock_stands_ = true;
  limits_.max_calls_per_s = 0.4;  // a burst of two
  Start();
  const std::string token = Token("ann", db::Role::kViewer);
  ExpectOk(List(With(token)));
  EXPECT_EQ(ListAs(Bearer(token)), 200);
  EXPECT_EQ(ListAs(Bearer(token)), 429);
  EXPECT_EQ(List(With(token)).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(GatewayAccessTest, ARevokedTokenEndsItsStreams) {
  Start();
  const HttpFields operates = Bearer(Token("bob", db::Role::kOperator));
  const HttpAnswer created = Post(caller_, kCreate, kSweep, operates);
  ASSERT_EQ(created.status, 200) << created.body;
  const std::string watch =
      absl::StrCat(R"({"name":")", created.Json()["name"].get<std::string>(), R"("})");
  const std::string token = Token("ann", db::Role::kViewer);
  const HttpFields cookie = CookieOf(Login(token));
  const HttpFields other = CookieOf(Login(token));
  const auto begin = [&](const HttpFields& of) {
    HttpFields fields = of;
    fields.emplace_back("Content-Type", "application/json");
    std::unique_ptr<HttpLine> line = Connect(caller_);
    line->Send(RequestText(caller_, "POST", "/meshwright.v1.Sweeps/WatchSweep", fields, watch));
    EXPECT_THAT(line->ReadUntil("event: message"), HasSubstr("event: message"));
    return line;
  };
  const auto logged_out = begin(cookie);
  EXPECT_EQ(Post(caller_, "/logout", "{}", cookie).status, 204);
  EXPECT_THAT(logged_out->ReadUntil("event: status\ndata: {\"code\":\"UNAUTHENTICATED\""),
              HasSubstr("UNAUTHENTICATED"));
  const auto revoked = begin(other);
  Revoke("ann");
  EXPECT_THAT(revoked->ReadUntil("event: status\ndata: {\"code\":\"UNAUTHENTICATED\""),
              HasSubstr("UNAUTHENTICATED"));
}

}  // namespace
}  // namespace meshwright::server
