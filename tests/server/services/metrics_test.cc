#include "server/services/metrics.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "absl/strings/numbers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "meshwright/v1/agents.grpc.pb.h"
#include "tests/server/server_fixture.h"

namespace meshwright::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// What a scrape of the page gets.
std::string Scrape(const std::string& address) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  int port = 0;
  EXPECT_TRUE(absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port));
  sockaddr_in there{};
  there.sin_family = AF_INET;
  there.sin_port = htons(static_cast<uint16_t>(port));
  inet_pton(AF_INET, "127.0.0.1", &there.sin_addr);
  EXPECT_EQ(connect(socket, reinterpret_cast<const sockaddr*>(&there), sizeof there), 0);
  const std::string request = "GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n";
  EXPECT_EQ(write(socket, request.data(), request.size()), static_cast<ssize_t>(request.size()));
  std::string answer;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(socket, buffer, sizeof buffer)) > 0;) {
    answer.append(buffer, static_cast<size_t>(n));
  }
  close(socket);
  return answer;
}

TEST(Metrics, ShowsWhatWasCountedAndWhatIsAsked) {
  Metrics metrics(MonotonicNow);
  const auto page = MetricsPage::Open("127.0.0.1:0", metrics);
  ASSERT_TRUE(page.ok()) << page.status();
  metrics.CountCall("/a.B/C", grpc::StatusCode::OK);
  metrics.CountCall("/a.B/C", grpc::StatusCode::OK);
  metrics.CountCall("/a.B/C", grpc::StatusCode::NOT_FOUND);
  metrics.TimeCall("/a.B/C", absl::Milliseconds(20));
  db::EventRecord event;
  event.kind = "trial_lost";
  metrics.CountEvents({event});
  metrics.CountRefusal("watchers");
  EXPECT_THAT(Scrape((*page)->address()), Not(HasSubstr("meshwright_agents")));
  EngineFigures figures;
  figures.sweeps = 2;
  figures.pending_trials = 7;
  figures.held_trials = 3;
  figures.idle_agents = 4;
  figures.busy_agents = 5;
  figures.store_is_up = false;
  metrics.SetFigures([figures] { return figures; });
  const std::string answer = Scrape((*page)->address());
  EXPECT_THAT(answer, HasSubstr("meshwright_calls_total{code=\"OK\",method=\"/a.B/C\"} 2"));
  EXPECT_THAT(answer, HasSubstr("meshwright_calls_total{code=\"NOT_FOUND\",method=\"/a.B/C\"} 1"));
  EXPECT_THAT(answer,
              HasSubstr("meshwright_call_seconds_bucket{method=\"/a.B/C\",le=\"0.025\"} 1"));
  EXPECT_THAT(answer, HasSubstr("meshwright_call_seconds_bucket{method=\"/a.B/C\",le=\"0.01\"} 0"));
  EXPECT_THAT(answer, HasSubstr("meshwright_events_total{kind=\"trial_lost\"} 1"));
  EXPECT_THAT(answer, HasSubstr("meshwright_refusals_total{limit=\"watchers\"} 1"));
  EXPECT_THAT(answer, HasSubstr("meshwright_trials{state=\"pending\"} 7"));
  EXPECT_THAT(answer, HasSubstr("meshwright_trials{state=\"held\"} 3"));
  EXPECT_THAT(answer, HasSubstr("meshwright_agents{state=\"idle\"} 4"));
  EXPECT_THAT(answer, HasSubstr("meshwright_agents{state=\"busy\"} 5"));
  EXPECT_THAT(answer, HasSubstr("meshwright_sweeps 2"));
  EXPECT_THAT(answer, HasSubstr("meshwright_store_up 0"));
}

TEST(Metrics, ThePageIsForThisMachineAlone) {
  const Metrics metrics(MonotonicNow);
  const auto open = MetricsPage::Open("0.0.0.0:0", metrics);
  EXPECT_EQ(open.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(open.status().message()), HasSubstr("asks nobody who they are"));
  EXPECT_EQ(MetricsPage::Open("here", metrics).status().code(), absl::StatusCode::kInvalidArgument);
  const auto first = MetricsPage::Open("127.0.0.1:0", metrics);
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = MetricsPage::Open((*first)->address(), metrics);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace meshwright::server
