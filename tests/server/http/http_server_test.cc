#include "server/http/http_server.h"

#include <list>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/few_descriptors.h"
#include "tests/server/http/http_peer.h"

namespace meshwright::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kGet[] = "GET /a?b=c HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n";

// Answers with what it was asked.
std::unique_ptr<HttpServer> StartEcho(const HttpLimits& limits = {}) {
  const auto echo = [](const HttpRequest& request) -> HttpResponse {
    if (request.path == "/throws") throw std::runtime_error("the handler's reason");
    return {.body = absl::StrCat(request.method, " ", request.path, " ", request.query, " ",
                                 request.body)};
  };
  return HttpServer::Start({.host = "127.0.0.1", .port = 0}, echo, limits).value();
}

TEST(HttpServer, GivesTheHandlerMethodPathQueryAndBody) {
  const auto server = StartEcho();
  EXPECT_THAT(Exchange(server->address(), kGet), HasSubstr("\r\n\r\nGET /a b=c "));
  EXPECT_THAT(Exchange(server->address(),
                       "POST /p HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
                       "Content-Length: 5\r\n\r\nhello"),
              HasSubstr("\r\n\r\nPOST /p  hello"));
}

TEST(HttpServer, AnswersHeadWithoutABody) {
  const auto server = StartEcho();
  const std::string answer =
      Exchange(server->address(), "HEAD /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(answer, HasSubstr("Content-Length: 9"));
  EXPECT_THAT(answer, testing::EndsWith("\r\n\r\n"));
}

TEST(HttpServer, AnswersSeveralRequestsOfOneConnection) {
  const auto server = StartEcho();
  const HttpPeer peer(server->address());
  for (const char* path : {"/one", "/two", "/three"}) {
    peer.Send(absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: h\r\n\r\n"));
    EXPECT_THAT(peer.ReadUntil(path), StartsWith("HTTP/1.1 200"));
  }
}

// A web server whose threads had stacks of 100 KiB ended on all but the expected request.
TEST(HttpServer, GoesOnWhateverIsAsked) {
  const auto server = StartEcho();
  const std::vector<std::string> methods = {"GET",   "HEAD",  "POST",    "PUT",      "DELETE",
                                            "PATCH", "TRACE", "OPTIONS", "PROPFIND", "CONNECT",
                                            "BREW",  "get",   "G E T",   "\x01\x02", ""};
  const std::vector<std::string> targets = {"/",
                                            "*",
                                            "",
                                            "//",
                                            "/../../etc/passwd",
                                            "/%00%ff%",
                                            "http://else.where:80/metrics",
                                            "/metrics?" + std::string(7000, 'q'),
                                            "/" + std::string(100'000, 'a'),
                                            "/\xff\xfe",
                                            "/throws"};
  for (const std::string& method : methods) {
    for (const std::string& target : targets) {
      for (const char* version : {"HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "HTTP/9", ""}) {
        Exchange(server->address(),
                 absl::StrCat(method, " ", target, " ", version, "\r\nConnection: close\r\n\r\n"));
      }
    }
  }
  for (const char* bytes :
       {"\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\x16\x03\x01\x02",
        "GET / HTTP/1.1\r\n:\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n"}) {
    const HttpPeer peer(server->address());
    peer.Send(bytes);
  }
  EXPECT_THAT(Exchange(server->address(), kGet), HasSubstr("GET /a b=c"));
}

TEST(HttpServer, SaysWhyARequestIsNotTaken) {
  const auto server = StartEcho({.header_bytes = 512, .body_bytes = 16});
  EXPECT_THAT(Exchange(server->address(), "hello\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(Exchange(server->address(),
                       absl::StrCat("GET / HTTP/1.1\r\nHost: ", std::string(600, 'h'), "\r\n\r\n")),
              StartsWith("HTTP/1.1 431"));
  EXPECT_THAT(Exchange(server->address(), "POST / HTTP/1.1\r\nContent-Length: 17\r\n\r\n"),
              StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(Exchange(server->address(), "GET /throws HTTP/1.0\r\n\r\n"),
              HasSubstr("the handler's reason"));
}

TEST(HttpServer, ClosesConnectionsThatSayNothing) {
  const auto server = StartEcho({.patience = absl::Milliseconds(50)});
  const HttpPeer silent(server->address());
  const HttpPeer half(server->address());
  half.Send("GET / HT");
  const absl::Time begin = absl::Now();
  EXPECT_EQ(silent.ReadAll(), "");
  EXPECT_EQ(half.ReadAll(), "");
  EXPECT_LT(absl::Now() - begin, absl::Seconds(3));
}

TEST(HttpServer, LetsANewPeerInWhereOldOnesHoldAllConnections) {
  const auto server = StartEcho({.max_connections = 8, .patience = absl::Seconds(100)});
  std::list<HttpPeer> half_sent;
  for (int i = 0; i < 40; ++i) {
    half_sent.emplace_back(server->address());
    half_sent.back().Send("GET / HTTP/1.1\r\nHost:");
  }
  EXPECT_THAT(Exchange(server->address(), kGet), HasSubstr("GET /a b=c"));
  EXPECT_EQ(half_sent.front().ReadAll(), "");  // closed, long before its patience
}

TEST(HttpServer, AcceptsAgainAfterTheProcessHadNoDescriptors) {
  const auto server = StartEcho();
  const std::list<HttpPeer> waiting(5);
  {
    const FewDescriptors limit(/*spare=*/0);
    for (const HttpPeer& peer : waiting) peer.Connect(server->address());
    absl::SleepFor(absl::Milliseconds(200));
  }
  for (const HttpPeer& peer : waiting) {
    peer.Send(kGet);
    EXPECT_THAT(peer.ReadAll(), HasSubstr("GET /a b=c"));
  }
}

TEST(HttpServer, SaysWhyItCannotListen) {
  const auto server = StartEcho();
  const auto second =
      HttpServer::Start(server->address(), [](const HttpRequest&) { return HttpResponse(); });
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("in use"));
}

}  // namespace
}  // namespace meshwright::server
