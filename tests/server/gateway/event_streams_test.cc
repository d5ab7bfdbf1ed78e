// A hundred event streams with live sweeps: all end well, and memory stays small.
#include <algorithm>
#include <atomic>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/system/heap.h"
#include "tests/server/gateway/http_client.h"
#include "tests/server/server_fixture.h"

namespace meshwright::server {
namespace {

constexpr int kStreams = 100;
constexpr int kSweeps = 5;
constexpr int kTrials = 8;
constexpr int64_t kMostMoreBytes = int64_t{100} << 20;

class EventStreamsTest : public ServerFixture {
 protected:
  EventStreamsTest() {
    http_ = HttpOptions{.listen = "127.0.0.1:0", .stream_interval = absl::Seconds(1)};
  }

  // Reads a sweep's events to their end. Returns whether they ended well.
  static bool Watch(const HttpCaller& caller, const std::string& sweep) {
    const std::unique_ptr<HttpLine> line = Connect(caller);
    line->Send(RequestText(caller, "POST", "/meshwright.v1.Sweeps/WatchSweep",
                           {{"Content-Type", "application/json"}},
                           absl::StrCat(R"({"name":")", sweep, R"("})")));
    const std::string bytes = line->ReadUntil("event: status");
    return bytes.find("SWEEP_EVENT_KIND_SWEEP_FINISHED") != std::string::npos;
  }

  // Returns the 99th percentile of short calls, which are made until `done`.
  absl::Duration P99(const std::atomic<bool>& done) {
    std::vector<absl::Duration> took;
    while (!done.load()) {
      const absl::Time begin = absl::Now();
      grpc::ClientContext context;
      v1::ListAgentsResponse response;
      EXPECT_TRUE(agents_->ListAgents(&context, {}, &response).ok());
      took.push_back(absl::Now() - begin);
      absl::SleepFor(absl::Milliseconds(2));
    }
    std::sort(took.begin(), took.end());
    return took.at(took.size() * 99 / 100);
  }

  // Returns what calls take where nothing else happens.
  absl::Duration CalmP99() {
    std::atomic<bool> done{false};
    absl::Duration p99;
    std::thread calls([&] { p99 = P99(done); });
    absl::SleepFor(absl::Seconds(2));
    done.store(true);
    calls.join();
    return p99;
  }

  absl::Duration Round() {
    const HttpCaller caller{.server = *ParseHostPort(server_->http_address())};
    std::atomic<bool> release{false};
    std::atomic<int> started{0};
    const TestAgent agent(server_->address(), "a", RunUntil(release, started));
    std::vector<std::string> sweeps;
    for (int i = 0; i < kSweeps; ++i) {
      v1::Sweep sweep;
      EXPECT_TRUE(Create(TinySweep(kTrials), &sweep).ok());
      sweeps.push_back(sweep.name());
    }
    std::atomic<int> ended{0};
    std::vector<std::thread> readers;
    for (int i = 0; i < kStreams; ++i) {
      readers.emplace_back([&, i] { ended += Watch(caller, sweeps[i % kSweeps]) ? 1 : 0; });
    }
    std::atomic<bool> done{false};
    absl::Duration p99;
    std::thread calls([&] { p99 = P99(done); });
    release.store(true);
    for (std::thread& reader : readers) reader.join();
    done.store(true);
    calls.join();
    EXPECT_EQ(ended, kStreams);
    return p99;
  }
};

TEST_F(EventStreamsTest, AHundredLeaveRoomForCalls) {
  const absl::Duration calm = CalmP99();
  const int64_t before_bytes = ResidentBytes();
  // Printed and not asserted: it depends on what else runs on this machine.
  const absl::Duration p99 = Round();
  const int64_t more_bytes = ResidentBytes() - before_bytes;
  EXPECT_LT(more_bytes, kMostMoreBytes);
  std::cout << kStreams << " streams: p99 of calls " << p99 << " (" << calm << " without), "
            << (more_bytes >> 20) << " MiB more\n";
}

}  // namespace
}  // namespace meshwright::server
