// Calls of a page and of scripts over HTTP/1.1, on loopback in plain text.
#include "server/gateway/gateway.h"

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "db/sqlite_store.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/json_util.h"
#include "grpcpp/create_channel.h"
#include "gtest/gtest.h"
#include "server/server.h"
#include "tests/server/gateway/http_client.h"
#include "tests/server/server_fixture.h"

namespace meshwright::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kRecommend[] = "/meshwright.v1.Planner/Recommend";
constexpr char kPresets[] = "/meshwright.v1.Planner/ListPresets";
constexpr char kAsk[] = "/meshwright.v1.Planner/Ask";
constexpr char kPlan[] =
    R"("plan":{"model":{"preset":"llama-3-8b"},"cluster":{"preset":"h100"},"gpus":"16",)"
    R"("seq_len":"4096","global_batch":"64"})";

class GatewayTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/gateway-" + std::to_string(getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override {
    server_.reset();
    std::filesystem::remove_all(folder_);
  }

  void Start(HttpOptions http = {}) {
    http.listen = "127.0.0.1:0";
    ServerOptions options;
    options.listen = "127.0.0.1:0";
    options.http = std::move(http);
    options.host_cores = 4;
    options.version = "test";
    options.clock = absl::Now;
    options.metrics = metrics_.get();
    options.recommend = recommend_;
    auto server = Server::Start(db::SqliteSweepStore::Open(folder_ + "/sweeps.db").value(),
                                std::move(options));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    caller_.server = *ParseHostPort(server_->http_address());
  }

  // Searches that begin run until they are cancelled.
  void LetSearchesWait() {
    recommend_ = [this](const planner::PlanQuery&, int32_t,
                        const planner::SearchRun& run) -> absl::StatusOr<planner::RecommendAnswer> {
      ++started_;
      while (!run.cancelled()) absl::SleepFor(absl::Milliseconds(5));
      ++cancelled_;
      return absl::CancelledError("cancelled");
    };
  }

  std::string folder_;
  std::unique_ptr<Metrics> metrics_;
  Recommender recommend_ = planner::AnswerRecommend;
  std::atomic<int> started_{0};
  std::atomic<int> cancelled_{0};
  std::unique_ptr<Server> server_;
  HttpCaller caller_;
};

TEST_F(GatewayTest, AnswersACallInJsonWithItsSafetyFields) {
  Start();
  const HttpAnswer answer = Post(caller_, kPresets, "{}");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.Field("Content-Type"), "application/json");
  EXPECT_EQ(answer.Field("Cache-Control"), "no-store");
  EXPECT_EQ(answer.Field("X-Content-Type-Options"), "nosniff");
  EXPECT_THAT(answer.Field("Content-Security-Policy"),
              AllOf(HasSubstr("default-src 'self'"), HasSubstr("frame-ancestors 'none'"),
                    HasSubstr("base-uri 'none'"), HasSubstr("form-action 'self'"),
                    Not(HasSubstr("unsafe"))));
  EXPECT_THAT(answer.head, Not(HasSubstr("Access-Control")));
  const nlohmann::json json = answer.Json();
  ASSERT_FALSE(json["model_presets"].empty());
  const nlohmann::json& model = json["model_presets"][0];
  EXPECT_TRUE(model["parameters"].is_string());   // 64 bits
  EXPECT_EQ(model["trainable_parameters"], "0");  // has its default
  EXPECT_TRUE(model["other_names"].is_array());
}

TEST_F(GatewayTest, AnswersAsGrpcDoes) {
  Start();
  const std::string request = absl::StrCat("{", kPlan, R"(,"top":3})");
  v1::RecommendRequest message;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(request, &message).ok());
  grpc::ClientContext context;
  v1::RecommendResponse over_grpc;
  const auto stub = v1::Planner::NewStub(
      grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials()));
  ASSERT_TRUE(stub->Recommend(&context, message, &over_grpc).ok());
  const HttpAnswer answer = Post(caller_, kRecommend, request);
  ASSERT_EQ(answer.status, 200) << answer.body;
  v1::RecommendResponse over_http;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(answer.body, &over_http).ok());
  EXPECT_EQ(over_http.layouts_size(), 3);
  EXPECT_EQ(over_http.DebugString(), over_grpc.DebugString());
}

TEST_F(GatewayTest, SaysWhatIsWrongWithACall) {
  Start();
  const auto post = [&](const std::string& path, const std::string& body) {
    return Post(caller_, path, body);
  };
  EXPECT_EQ(post(kPresets, R"({"model":1})").status, 400);
  EXPECT_THAT(post(kPresets, R"({"model":1})").Json()["message"].get<std::string>(),
              HasSubstr("model"));
  EXPECT_EQ(post(kPresets, "{").Json()["code"], "INVALID_ARGUMENT");
  EXPECT_EQ(post(kPresets, "").status, 400);
  const HttpAnswer wrong =
      post("/meshwright.v1.Planner/Estimate", absl::StrCat("{", kPlan, R"(,"layout":"tp0"})"));
  EXPECT_EQ(wrong.status, 400) << wrong.body;
  ASSERT_EQ(wrong.Json()["violations"].size(), 1u) << wrong.body;
  EXPECT_EQ(wrong.Json()["violations"][0]["field"], "layout");
  EXPECT_EQ(post("/meshwright.v1.Sweeps/GetSweep", R"({"name":"sweeps/none"})").status, 404);
  EXPECT_EQ(post("/meshwright.v1.Planner/Nothing", "{}").status, 501);
  EXPECT_EQ(post("/meshwright.v1.Agents/Connect", "{}").status, 501);
  EXPECT_EQ(post("/grpc.health.v1.Health/Check", "{}").status, 404);
  EXPECT_EQ(post("/login", R"({"token":"x"})").status, 501);
}

TEST_F(GatewayTest, ChangesWhatGrpcChanges) {
  Start();
  const HttpAnswer created =
      Post(caller_, "/meshwright.v1.Sweeps/CreateSweep",
           R"({"plan":{"model":{"preset":"tinystories-15m"},"cluster":{"preset":"local-cpu"},)"
           R"("gpus":4,"seq_len":64,"global_batch":8},"trials":1})");
  ASSERT_EQ(created.status, 200) << created.body;
  const std::string name = created.Json()["name"];
  EXPECT_EQ(
      Post(caller_, "/meshwright.v1.Sweeps/GetSweep", absl::StrCat(R"({"name":")", name, R"("})"))
          .Json()["name"],
      name);
  EXPECT_EQ(Post(caller_, "/meshwright.v1.Sweeps/DeleteSweep",
                 absl::StrCat(R"({"name":")", name, R"(","force":true})"))
                .status,
            200);
  EXPECT_THAT(Post(caller_, "/meshwright.v1.Sweeps/ListSweeps", "{}").Json()["sweeps"], IsEmpty());
}

TEST_F(GatewayTest, AForeignHostIsRefusedForReadsToo) {
  Start({.names = {"mesh.example"}});
  const std::string port = std::to_string(caller_.server.port);
  for (const std::string& host :
       {std::string("evil.example"), "evil.example:" + port, std::string("127.0.0.2:") + port,
        std::string("127.0.0.1.evil.example"), std::string("127.0.0.1@evil.example"),
        std::string(""), std::string("127.0.0.1:x"), std::string("[127.0.0.1"),
        std::string("localhost.evil.example")}) {
    EXPECT_EQ(Post(caller_, kPresets, "{}", {{"Host", host}}).status, 403) << host;
    EXPECT_EQ(Ask(caller_, "GET", "/", {{"Host", host}}).status, 403) << host;
    EXPECT_EQ(Ask(caller_, "GET", "/metrics", {{"Host", host}}).status, 403) << host;
  }
  for (const std::string& host :
       {"127.0.0.1:" + port, std::string("127.0.0.1"), std::string("LOCALHOST:1"),
        std::string("mesh.example"), std::string("Mesh.Example:443")}) {
    EXPECT_EQ(Post(caller_, kPresets, "{}", {{"Host", host}}).status, 200) << host;
  }
  EXPECT_EQ(Post(caller_, kPresets, "{}", {{"Host", "localhost"}, {"Host", "evil.example"}}).status,
            403);
}

TEST_F(GatewayTest, PagesOfOtherSitesCanNotCall) {
  Start();
  const std::string own = "http://" + server_->http_address();
  for (const std::string& origin :
       {std::string("http://evil.example"), std::string("null"),
        "https://" + server_->http_address(), std::string("http://localhost:3000"),
        own + ".evil.example", std::string("")}) {
    const HttpAnswer answer = Post(caller_, kPresets, "{}", {{"Origin", origin}});
    EXPECT_EQ(answer.status, 403) << origin;
    EXPECT_THAT(answer.head, Not(HasSubstr("Access-Control")));
  }
  EXPECT_EQ(Post(caller_, kPresets, "{}", {{"Origin", own}}).status, 200);
  EXPECT_EQ(
      Post(caller_, kPresets, "{}", {{"Origin", own}, {"Origin", "http://evil.example"}}).status,
      403);
  // What a form or a script of another page sends without asking first.
  for (const char* type : {"text/plain", "application/x-www-form-urlencoded", "multipart/form-data",
                           "text/plain; application/json", ""}) {
    EXPECT_EQ(Ask(caller_, "POST", kPresets, {{"Content-Type", type}}, "{}").status, 415) << type;
  }
  EXPECT_EQ(
      Ask(caller_, "POST", kPresets, {{"Content-Type", "Application/JSON; charset=utf-8"}}, "{}")
          .status,
      200);
  const HttpAnswer asked = Ask(caller_, "OPTIONS", kPresets,
                               {{"Origin", own}, {"Access-Control-Request-Method", "POST"}});
  EXPECT_EQ(asked.status, 405);
  EXPECT_THAT(asked.head, Not(HasSubstr("Access-Control")));
  EXPECT_EQ(Ask(caller_, "GET", kPresets).status, 404);
}

TEST_F(GatewayTest, NoPathLeadsOutOfThePage) {
  Start();
  for (const char* path :
       {"/../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2fetc/passwd", "//etc/passwd",
        "/views/../../server.h", "/index.html/", "/\\..\\x", "/index.html%00.js", "/.", "/?",
        "http://127.0.0.1/etc/passwd", "/etc/passwd"}) {
    const HttpAnswer answer = Ask(caller_, "GET", path);
    if (std::string(path) == "/?") continue;  // the page itself
    EXPECT_EQ(answer.status, 404) << path;
    EXPECT_THAT(answer.body, Not(HasSubstr("root:")));
  }
}

TEST_F(GatewayTest, ABodyBeyondTheLimitIsRefusedUnread) {
  Start();
  EXPECT_EQ(Post(caller_, kPresets, "", {{"Content-Length", "16777217"}}).status, 413);
  EXPECT_EQ(Post(caller_, "/session", "", {{"Content-Length", "4097"}}).status, 413);
  EXPECT_EQ(Ask(caller_, "GET", "/", {{"Content-Length", "1"}}).status, 413);
}

TEST_F(GatewayTest, AClosedRequestEndsItsSearch) {
  LetSearchesWait();
  Start();
  const std::string body = absl::StrCat("{", kPlan, "}");
  for (const auto& [path, text] :
       {std::pair<std::string, std::string>(kRecommend, body),
        std::pair<std::string, std::string>(kAsk, absl::StrCat(R"({"recommend":)", body, "}"))}) {
    const int before = started_;
    {
      const auto line = Connect(caller_);
      line->Send(RequestText(caller_, "POST", path, {{"Content-Type", "application/json"}}, text));
      ASSERT_TRUE(WaitFor([&] { return started_ == before + 1; })) << path;
      EXPECT_EQ(cancelled_, before);
    }
    EXPECT_TRUE(WaitFor([&] { return cancelled_ == before + 1; })) << path;
  }
}

TEST_F(GatewayTest, StreamsProgressAndTheAnswer) {
  Start();
  const HttpAnswer answer =
      Post(caller_, kAsk, absl::StrCat(R"({"recommend":{)", kPlan, R"(,"top":1}})"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.Field("Content-Type"), "text/event-stream");
  const auto messages = EventsIn(answer.body, "message");
  ASSERT_FALSE(messages.empty());
  EXPECT_EQ(messages.back()["recommend"]["layouts"].size(), 1u);
  const auto status = EventsIn(answer.body, "status");
  ASSERT_EQ(status.size(), 1u);
  EXPECT_EQ(status[0]["code"], "OK");
}

// The answer comes while the progress is on its way, so that nothing reads it yet.
TEST_F(GatewayTest, AnAnswerRightBehindProgressArrivesAndEndsTheCall) {
  recommend_ = [](const planner::PlanQuery&, int32_t,
                  const planner::SearchRun& run) -> absl::StatusOr<planner::RecommendAnswer> {
    run.progress({.seen = 1, .of = 2});
    return planner::RecommendAnswer();
  };
  Start();
  for (int i = 0; i < 50; ++i) {
    const HttpAnswer answer = Post(caller_, kAsk, absl::StrCat(R"({"recommend":{)", kPlan, "}}"));
    const auto messages = EventsIn(answer.body, "message");
    ASSERT_EQ(messages.size(), 2u) << answer.body;
    EXPECT_TRUE(messages.back().contains("recommend")) << answer.body;
    EXPECT_EQ(EventsIn(answer.body, "status").at(0)["code"], "OK");
  }
  const absl::Time begin = absl::Now();
  server_.reset();
  EXPECT_LT(absl::Now() - begin, absl::Seconds(2));
}

TEST_F(GatewayTest, AStreamEndsWithItsError) {
  Start();
  const auto ended = [&](const std::string& path, const std::string& body) {
    const HttpAnswer answer = Post(caller_, path, body);
    EXPECT_THAT(EventsIn(answer.body, "message"), IsEmpty());
    return EventsIn(answer.body, "status").at(0);
  };
  EXPECT_EQ(ended("/meshwright.v1.Sweeps/WatchSweep", R"({"name":"sweeps/none"})")["code"],
            "NOT_FOUND");
  const nlohmann::json wrong = ended(kAsk, R"({"recommend":{"plan":{"gpus":-1}}})");
  EXPECT_EQ(wrong["code"], "INVALID_ARGUMENT");
  EXPECT_FALSE(wrong["violations"].empty()) << wrong;
  EXPECT_EQ(Post(caller_, kAsk, R"({"nothing":1})").status, 400);
}

TEST_F(GatewayTest, ACommentKeepsAStreamAlive) {
  LetSearchesWait();
  Start({.stream_interval = absl::Milliseconds(50)});
  const auto line = Connect(caller_);
  line->Send(RequestText(caller_, "POST", kAsk, {{"Content-Type", "application/json"}},
                         absl::StrCat(R"({"recommend":{)", kPlan, "}}")));
  EXPECT_THAT(line->ReadUntil(": \n\n"), HasSubstr(": \n\n"));
  EXPECT_THAT(line->ReadUntil(": \n\n"), HasSubstr(": \n\n"));
}

TEST_F(GatewayTest, StoppingEndsWhatRuns) {
  LetSearchesWait();
  Start();
  const auto line = Connect(caller_);
  line->Send(RequestText(caller_, "POST", kAsk, {{"Content-Type", "application/json"}},
                         absl::StrCat(R"({"recommend":{)", kPlan, "}}")));
  ASSERT_TRUE(WaitFor([&] { return started_ == 1; }));
  const absl::Time begin = absl::Now();
  server_.reset();
  EXPECT_LT(absl::Now() - begin, absl::Seconds(2));
  EXPECT_EQ(cancelled_, 1);
}

TEST_F(GatewayTest, AKeyIsNeededForEveryCallAndForNoFile) {
  Start({.key = "the-key"});
  EXPECT_EQ(Post(caller_, kPresets, "{}").status, 403);
  EXPECT_EQ(Post(caller_, kPresets, "{}", {{"X-Meshwright-Key", "another"}}).status, 403);
  EXPECT_EQ(Post(caller_, "/session", "{}").status, 403);
  const HttpFields key = {{"X-Meshwright-Key", "the-key"}};
  EXPECT_EQ(Post(caller_, kPresets, "{}", key).status, 200);
  EXPECT_EQ(Post(caller_, "/session", "{}", key).status, 200);
  EXPECT_NE(Ask(caller_, "GET", "/").status, 403);
}

TEST_F(GatewayTest, SaysThatNobodyIsAsked) {
  Start();
  const nlohmann::json session = Post(caller_, "/session", "{}").Json();
  EXPECT_EQ(session["name"], "");
  EXPECT_EQ(session["role"], "operator");
  EXPECT_EQ(session["secure"], false);
  EXPECT_EQ(session["login"], false);
}

TEST_F(GatewayTest, CountsItsCallsWithTheOthers) {
  Start();
  EXPECT_EQ(Ask(caller_, "GET", "/metrics").status, 404);
  server_.reset();
  metrics_ = std::make_unique<Metrics>(MonotonicNow);
  Start();
  Post(caller_, kPresets, "{}");
  const HttpAnswer answer = Ask(caller_, "GET", "/metrics");
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body,
              HasSubstr("meshwright_calls_total{code=\"OK\",method=\"/meshwright.v1.Planner/"
                        "ListPresets\"} 1"));
}

TEST_F(GatewayTest, WithoutAnAddressForGrpcCallsStillWork) {
  ServerOptions options;
  options.listen.clear();
  options.http = HttpOptions{.listen = "127.0.0.1:0"};
  options.clock = absl::Now;
  auto server =
      Server::Start(db::SqliteSweepStore::Open(folder_ + "/sweeps.db").value(), std::move(options));
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ((*server)->address(), "");
  EXPECT_EQ(Post({.server = *ParseHostPort((*server)->http_address())}, kPresets, "{}").status,
            200);
}

TEST_F(GatewayTest, OtherMachinesNeedTls) {
  ServerOptions options;
  options.http = HttpOptions{.listen = "0.0.0.0:0"};
  options.listen = "127.0.0.1:0";
  options.clock = absl::Now;
  const auto server =
      Server::Start(db::SqliteSweepStore::Open(folder_ + "/sweeps.db").value(), std::move(options));
  EXPECT_EQ(server.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(server.status().message()), HasSubstr("http = 0.0.0.0:0"));
}

}  // namespace
}  // namespace meshwright::server
