#include "server/http/http_server.h"

#include <atomic>
#include <list>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
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
  return HttpServer::Start({.host = "127.0.0.1", .port = 0}, AnsweringAtOnce(echo), limits).value();
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

// Holds each request's exchange, and counts the peers that went.
struct Held {
  std::unique_ptr<HttpServer> Start(const HttpLimits& limits = {}) {
    return HttpServer::Start({.host = "127.0.0.1", .port = 0},
                             {.admit = {},
                              .handle =
                                  [this](const HttpRequest&, const auto& exchange) {
                                    exchange->OnGone([this] { ++gone; });
                                    const absl::MutexLock lock(&mutex);
                                    exchanges.push_back(exchange);
                                  },
                              .fields = {}},
                             limits)
        .value();
  }
  // Waits for the request with this number, from 0.
  std::shared_ptr<HttpExchange> Await(size_t number) {
    const auto is_there = [&] { return exchanges.size() > number; };
    const absl::MutexLock lock(&mutex);
    EXPECT_TRUE(mutex.AwaitWithTimeout(absl::Condition(&is_there), absl::Seconds(10)));
    return exchanges.at(number);
  }
  bool AwaitGone(int count) const {
    for (int i = 0; i < 1000 && gone.load() < count; ++i) absl::SleepFor(absl::Milliseconds(10));
    return gone.load() == count;
  }

  absl::Mutex mutex;
  std::vector<std::shared_ptr<HttpExchange>> exchanges;
  std::atomic<int> gone{0};
};

TEST(HttpServer, AnswersLaterFromAnotherThread) {
  Held held;
  const auto server = held.Start({.patience = absl::Milliseconds(100)});
  const HttpPeer peer(server->address());
  peer.Send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
  const auto exchange = held.Await(0);
  absl::SleepFor(absl::Milliseconds(300));  // a request that is handled is not held to patience
  exchange->Answer({.body = "late"});
  EXPECT_THAT(peer.ReadUntil("late"), HasSubstr("Content-Length: 4\r\n\r\nlate"));
  exchange->Answer({.body = "twice"});  // of a request that has been answered
  EXPECT_EQ(held.gone, 0);
}

TEST(HttpServer, TellsOfAPeerThatGoesBeforeItsAnswer) {
  Held held;
  const auto server = held.Start();
  {
    const HttpPeer peer(server->address());
    peer.Send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}");
    held.Await(0);
    EXPECT_EQ(held.gone, 0);
  }
  EXPECT_TRUE(held.AwaitGone(1));
  held.Await(0)->Answer({.body = "to nobody"});
  EXPECT_EQ(held.gone, 1);
}

TEST(HttpServer, StreamsInChunksAndGoesOn) {
  Held held;
  const auto server = held.Start();
  const HttpPeer peer(server->address());
  peer.Send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
  const auto exchange = held.Await(0);
  std::atomic<int> ticks{0};
  std::atomic<bool> sent{false};
  exchange->BeginStream({.content_type = "text/event-stream", .body = "one"},
                        absl::Milliseconds(20), [&] { ++ticks; });
  exchange->Send("and two", [&] { sent = true; });
  EXPECT_THAT(peer.ReadUntil("two\r\n"),
              testing::AllOf(HasSubstr("Transfer-Encoding: chunked"), HasSubstr("3\r\none\r\n"),
                             HasSubstr("7\r\nand two\r\n")));
  while (ticks < 3) absl::SleepFor(absl::Milliseconds(5));
  EXPECT_TRUE(sent);
  exchange->EndStream();
  EXPECT_EQ(peer.ReadUntil("0\r\n\r\n"), "0\r\n\r\n");
  peer.Send("GET /b HTTP/1.1\r\nHost: h\r\n\r\n");
  held.Await(1)->Answer({.body = "next"});
  EXPECT_THAT(peer.ReadUntil("next"), HasSubstr("200 OK"));
}

TEST(HttpServer, AStreamToAPeerWithoutChunksEndsWithTheConnection) {
  Held held;
  const auto server = held.Start();
  const HttpPeer peer(server->address());
  peer.Send("GET /a HTTP/1.0\r\n\r\n");
  const auto exchange = held.Await(0);
  exchange->BeginStream({.body = "one"}, absl::Seconds(1), [] {});
  exchange->EndStream();
  EXPECT_THAT(peer.ReadAll(), testing::EndsWith("\r\n\r\none"));
}

TEST(HttpServer, APeerThatDoesNotReadItsStreamIsLeft) {
  Held held;
  const auto server = held.Start({.patience = absl::Milliseconds(100)});
  const HttpPeer peer(server->address());
  peer.Send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
  const auto exchange = held.Await(0);
  exchange->BeginStream({}, absl::Seconds(1), [] {});
  exchange->Send(std::string(size_t{64} << 20, 'x'), {});
  EXPECT_TRUE(held.AwaitGone(1));
}

TEST(HttpServer, ExchangesOutliveTheServer) {
  Held held;
  auto server = held.Start();
  const HttpPeer peer(server->address());
  peer.Send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
  const auto exchange = held.Await(0);
  server.reset();
  EXPECT_EQ(held.gone, 1);
  exchange->BeginStream({}, absl::Seconds(1), [] {});
  exchange->Send("x", {});
  exchange->EndStream();
}

TEST(HttpServer, RefusesBeforeItReadsABody) {
  std::atomic<int> handled{0};
  const auto server = HttpServer::Start({.host = "127.0.0.1", .port = 0},
                                        {.admit = [](HttpRequest& head) -> HttpAdmission {
                                           if (head.path == "/no")
                                             return HttpResponse{.status = 401, .body = "no"};
                                           return uint64_t{4};
                                         },
                                         .handle =
                                             [&](const HttpRequest& request, const auto& exchange) {
                                               ++handled;
                                               exchange->Answer({.body = request.body});
                                             },
                                         .fields = {{"X-Of-All", "yes"}}})
                          .value();
  const auto post = [&](const std::string& path, int length, const std::string& body) {
    return Exchange(server->address(),
                    absl::StrCat("POST ", path, " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n",
                                 "Content-Length: ", length, "\r\n\r\n", body));
  };
  EXPECT_THAT(post("/no", 60'000, ""), StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(post("/yes", 5, ""), StartsWith("HTTP/1.1 413"));
  EXPECT_EQ(handled, 0);
  EXPECT_THAT(post("/yes", 4, "body"),
              testing::AllOf(HasSubstr("X-Of-All: yes"), testing::EndsWith("\r\n\r\nbody")));
  const HttpPeer asks(server->address());
  asks.Send("POST /yes HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
  EXPECT_THAT(asks.ReadUntil("\r\n\r\n"), StartsWith("HTTP/1.1 100 Continue"));
  asks.Send("more");
  EXPECT_THAT(asks.ReadUntil("more"), StartsWith("HTTP/1.1 200"));
}

TEST(HttpServer, HoldsBodiesToALimitTogether) {
  Held held;
  const auto server = held.Start({.body_bytes = 1000, .total_body_bytes = 1500});
  const HttpPeer first(server->address());
  first.Send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\nand no more");
  const std::string second =
      "POST /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 1000\r\n\r\n";
  EXPECT_THAT(Exchange(server->address(), second), StartsWith("HTTP/1.1 503"));
}

TEST(HttpServer, HoldsUnsentAnswersToALimitTogether) {
  Held held;
  const auto server = held.Start({.total_unsent_bytes = uint64_t{32} << 20});
  const std::string large(size_t{24} << 20, 'x');
  const HttpPeer idle(server->address());
  idle.Send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
  held.Await(0)->Answer({.body = large});
  const HttpPeer reads(server->address());
  reads.Send("GET /b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  held.Await(1)->Answer({.body = large});
  EXPECT_GT(reads.ReadAll().size(), large.size());
  EXPECT_LT(idle.ReadAll().size(), large.size());
  EXPECT_EQ(held.gone, 1);
}

TEST(HttpServer, TakesNoBodyOfUnknownLength) {
  const auto server = StartEcho();
  EXPECT_THAT(Exchange(server->address(),
                       "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
              StartsWith("HTTP/1.1 411"));
  EXPECT_THAT(
      Exchange(server->address(),
               "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
      StartsWith("HTTP/1.1 400"));
}

TEST(HttpServer, ManyShortFieldsAreALongHeaderToo) {
  const auto server = StartEcho({.header_bytes = 2000});
  std::string fields;
  for (int i = 0; i < 1000; ++i) fields += "a: b\r\n";
  EXPECT_THAT(Exchange(server->address(), absl::StrCat("GET / HTTP/1.1\r\n", fields, "\r\n")),
              StartsWith("HTTP/1.1 431"));
}

TEST(HttpServer, SaysWhyItCannotListen) {
  const auto server = StartEcho();
  const auto second = HttpServer::Start(
      server->address(), AnsweringAtOnce([](const HttpRequest&) { return HttpResponse(); }));
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("in use"));
}

}  // namespace
}  // namespace meshwright::server
