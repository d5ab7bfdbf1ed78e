// A server has to stop soon whatever its peers do: those that close connections under their calls,
// and agents that come back at once.
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/server/gateway/http_client.h"
#include "tests/server/http/http_peer.h"
#include "tests/server/server_fixture.h"

namespace meshwright::server {
namespace {

constexpr uint32_t kRounds = 25;
constexpr uint32_t kPeers = 24;
constexpr int kSweeps = 3;
constexpr int32_t kTrials = 20;
constexpr uint32_t kMostRoundMs = 400;
// More than Stop() gives gRPC, and than a machine that others use stands still.
constexpr std::chrono::seconds kMostToStop(40);
// gRPC cancels calls that are open at its deadline of 2 s, which should find none.
constexpr absl::Duration kDeadlineOfCalls = absl::Seconds(2);

constexpr char kPlan[] =
    R"("plan":{"model":{"preset":"llama-3-8b"},"cluster":{"preset":"h100"},"gpus":"64",)"
    R"("seq_len":"4096","global_batch":"128"})";
constexpr char kLayout[] = R"("layout":"tp2.pp4.dp8.mb1.zero1.sp1")";

struct Request {
  std::string path;  // behind /meshwright.v1.
  std::string body;
};

class LeavingPeersTest : public ServerFixture {
 protected:
  LeavingPeersTest() {
    http_ = HttpOptions{.listen = "127.0.0.1:0", .stream_interval = absl::Milliseconds(50)};
  }

  std::vector<Request> Requests() {
    const std::string plan = absl::StrCat("{", kPlan, "}");
    const std::string layout = absl::StrCat("{", kPlan, ",", kLayout, "}");
    std::vector<Request> requests = {
        {"Planner/Recommend", plan},
        {"Planner/Recommend", absl::StrCat("{", kPlan, R"(,"top":1000})")},
        {"Planner/Estimate", layout},
        {"Planner/Schedule", layout},
        {"Planner/Ask", absl::StrCat(R"({"recommend":)", plan, "}")},
        {"Planner/Ask", absl::StrCat(R"({"fit":)", plan, "}")},
        {"Planner/Ask", absl::StrCat(R"({"study":)", plan, "}")},
        {"Planner/Ask",
         absl::StrCat(R"({"scale":{)", kPlan, R"(,"gpus_low":"8","gpus_high":"512"}})")},
        {"Planner/ListPresets", "{}"},
        {"Agents/ListAgents", "{}"},
        {"Sweeps/ListSweeps", "{}"},
        {"Sweeps/CancelSweep", R"({"name":"sweeps/none"})"},
    };
    for (int i = 0; i < kSweeps; ++i) {
      v1::Sweep sweep;
      EXPECT_TRUE(Create(TinySweep(kTrials), &sweep).ok());
      requests.push_back(
          {"Sweeps/WatchSweep", absl::StrCat(R"({"name":")", sweep.name(), R"("})")});
    }
    return requests;
  }

  // Sends requests, each on a connection of its own that it closes at any moment, until the server
  // is gone or `done`.
  static void SendAndLeave(const HttpCaller& caller, const std::vector<Request>& requests,
                           uint32_t seed, const std::atomic<bool>& done) {
    std::mt19937 random(seed);
    while (!done.load()) {
      const Request& request = requests[random() % requests.size()];
      const HttpPeer peer;
      if (!peer.TryConnect(caller.server)) return;
      if (random() % 2 == 0) {
        const linger reset{.l_onoff = 1, .l_linger = 0};
        setsockopt(peer.descriptor(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
      }
      peer.Send(RequestText(caller, "POST", absl::StrCat("/meshwright.v1.", request.path),
                            {{"Content-Type", "application/json"}}, request.body));
      if (random() % 4 == 0) peer.ReadSome();
      const uint32_t most_us = random() % 8 == 0 ? 60'000 : 2'000;
      absl::SleepFor(absl::Microseconds(random() % most_us));
    }
  }

  // Returns how long the server took to stop. If it does not stop, this process ends.
  absl::Duration StopServer() {
    const absl::Time begin = absl::Now();
    const std::future<void> stopped = std::async(std::launch::async, [this] { server_->Stop(); });
    if (stopped.wait_for(kMostToStop) != std::future_status::ready) {
      ADD_FAILURE() << "the server has not stopped within " << kMostToStop.count() << " s";
      std::abort();  // rather than wait for ever
    }
    return absl::Now() - begin;
  }

  // Returns how long the server took to stop.
  absl::Duration Round(uint32_t round) {
    std::mt19937 random(round);
    const HttpCaller caller{.server = *ParseHostPort(server_->http_address())};
    const std::vector<Request> requests = Requests();
    const TestAgent agent(server_->address(), "a", RunAtOnce);
    std::atomic<bool> done{false};
    std::vector<std::thread> peers;
    for (uint32_t i = 0; i < kPeers; ++i) {
      peers.emplace_back([&, i] { SendAndLeave(caller, requests, round * kPeers + i, done); });
    }
    absl::SleepFor(absl::Milliseconds(random() % kMostRoundMs));
    // In half of the rounds, peers go on while the server stops.
    if (round % 2 == 0) done.store(true);
    const absl::Duration took = StopServer();
    done.store(true);
    for (std::thread& peer : peers) peer.join();
    server_.reset();
    return took;
  }
};

TEST_F(LeavingPeersTest, DoNotKeepTheServerFromStopping) {
  std::vector<absl::Duration> took;
  for (uint32_t round = 0; round < kRounds; ++round) {
    if (round > 0) StartServer("127.0.0.1:0");
    took.push_back(Round(round));
  }
  std::nth_element(took.begin(), took.begin() + kRounds / 2, took.end());
  EXPECT_LT(took[kRounds / 2], kDeadlineOfCalls);
}

}  // namespace
}  // namespace meshwright::server
