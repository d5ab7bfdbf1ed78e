#include "server/services/metrics.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "base/system/host_port.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "meshwright/v1/agents.grpc.pb.h"
#include "server/services/metrics_page.h"
#include "tests/server/http/http_peer.h"
#include "tests/server/server_fixture.h"

namespace meshwright::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Scrape(const MetricsPage& page) {
  return Exchange(*ParseHostPort(page.address()), "GET /metrics HTTP/1.0\r\n\r\n");
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
  EXPECT_THAT(Scrape(**page), Not(HasSubstr("meshwright_agents")));
  EngineFigures figures;
  figures.sweeps = 2;
  figures.pending_trials = 7;
  figures.held_trials = 3;
  figures.idle_agents = 4;
  figures.busy_agents = 5;
  figures.store_is_up = false;
  metrics.SetFigures([figures] { return figures; });
  const std::string answer = Scrape(**page);
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

TEST(Metrics, ThePageAnswersOtherMethodsAndPaths) {
  const Metrics metrics(MonotonicNow);
  const auto page = MetricsPage::Open("127.0.0.1:0", metrics);
  ASSERT_TRUE(page.ok()) << page.status();
  const HostPort address = *ParseHostPort((*page)->address());
  const auto ask = [&](const std::string& request) {
    return Exchange(address, absl::StrCat(request, " HTTP/1.0\r\n\r\n"));
  };
  EXPECT_THAT(ask("GET /"), HasSubstr("404 Not Found"));
  EXPECT_THAT(ask("GET /favicon.ico"), HasSubstr("metrics are at /metrics"));
  EXPECT_THAT(ask("POST /metrics"), HasSubstr("Allow: GET, HEAD"));
  EXPECT_THAT(ask("HEAD /metrics"), HasSubstr("200 OK"));
  EXPECT_THAT(ask("GET /metrics?a=b"), HasSubstr("200 OK"));
}

TEST(Metrics, ThePageIsForThisMachineAlone) {
  const Metrics metrics(MonotonicNow);
  const auto open = MetricsPage::Open("0.0.0.0:0", metrics);
  EXPECT_EQ(open.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(open.status().message()), HasSubstr("must be a loopback address"));
  EXPECT_EQ(MetricsPage::Open("here", metrics).status().code(), absl::StatusCode::kInvalidArgument);
  const auto first = MetricsPage::Open("127.0.0.1:0", metrics);
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = MetricsPage::Open((*first)->address(), metrics);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace meshwright::server
