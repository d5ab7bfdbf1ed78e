#include "server/calls/connection_listener.h"

#include <atomic>
#include <list>
#include <string>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "base/system/descriptors.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/few_descriptors.h"
#include "tests/server/http/http_peer.h"

namespace meshwright::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ConnectionListenerTest : public ::testing::Test {
 protected:
  void Start(int32_t max_descriptor) {
    ListenerOptions options;
    options.max_descriptor = max_descriptor;
    options.log = [this](const LogEntry& entry) {
      const absl::MutexLock lock(&mutex_);
      logged_.push_back(entry.message);
    };
    options.refused = [this] { ++refused_; };
    listener_ = ConnectionListener::Bind({.host = "127.0.0.1", .port = 0}, options).value();
    listener_->Begin([this](UniqueFd connection, int /*listening*/) {
      const absl::MutexLock lock(&mutex_);
      taken_.push_back(std::move(connection));
    });
  }

  // Waits until so many connections were taken.
  bool Taken(size_t count) {
    const absl::MutexLock lock(&mutex_);
    const auto has = [&] { return taken_.size() >= count; };
    return mutex_.AwaitWithTimeout(absl::Condition(&has), absl::Seconds(10));
  }
  HostPort address() const { return {.host = "127.0.0.1", .port = listener_->port()}; }

  absl::Mutex mutex_;
  std::list<UniqueFd> taken_;
  std::vector<std::string> logged_;
  std::atomic<int> refused_{0};
  std::unique_ptr<ConnectionListener> listener_;
};

TEST_F(ConnectionListenerTest, HandsConnectionsOn) {
  Start(1000);
  const HttpPeer one(address());
  const HttpPeer two(address());
  EXPECT_TRUE(Taken(2));
}

TEST_F(ConnectionListenerTest, AcceptsAgainAfterTheProcessHadNoDescriptors) {
  Start(1000);
  const std::list<HttpPeer> peers(5);
  {
    const FewDescriptors limit(/*spare=*/0);
    for (const HttpPeer& peer : peers) peer.Connect(address());
    absl::SleepFor(absl::Milliseconds(300));
    const absl::MutexLock lock(&mutex_);
    EXPECT_TRUE(taken_.empty());
  }
  EXPECT_TRUE(Taken(5));
  const absl::MutexLock lock(&mutex_);
  EXPECT_THAT(logged_, ElementsAre(HasSubstr("can't accept connections (Too many open files)")));
}

TEST_F(ConnectionListenerTest, ClosesConnectionsBeyondItsDescriptors) {
  Start(OpenDescriptors() + 12);
  std::list<HttpPeer> peers;
  for (int i = 0; i < 20; ++i) peers.emplace_back(address());
  EXPECT_EQ(peers.back().ReadAll(), "");  // closed
  EXPECT_GE(refused_.load(), 1);
  {
    const absl::MutexLock lock(&mutex_);
    EXPECT_THAT(logged_, ElementsAre(HasSubstr("raise --max-connections")));
    taken_.clear();
  }
  peers.clear();
  const HttpPeer later(address());
  EXPECT_TRUE(Taken(1));
}

TEST_F(ConnectionListenerTest, SaysThatAPortIsInUse) {
  Start(1000);
  const auto second = ConnectionListener::Bind(address(), {});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("in use"));
}

TEST_F(ConnectionListenerTest, StopsBeforeItsDestructorToo) {
  Start(1000);
  listener_->Stop();
  const HttpPeer peer(address());
  absl::SleepFor(absl::Milliseconds(50));
  const absl::MutexLock lock(&mutex_);
  EXPECT_TRUE(taken_.empty());
}

TEST(HighestConnectionDescriptor, LeavesRoomForTheStore) {
  EXPECT_EQ(HighestConnectionDescriptor(1 << 30), DescriptorLimit() - 64);
  EXPECT_LE(HighestConnectionDescriptor(10), OpenDescriptors() + 21);
}

}  // namespace
}  // namespace meshwright::server
