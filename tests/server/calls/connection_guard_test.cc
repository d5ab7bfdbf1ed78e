#include "server/calls/connection_guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/system/descriptors.h"
#include "base/system/unique_fd.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/few_descriptors.h"

namespace meshwright::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kMib = int64_t{1} << 20;

// A connection over loopback with both of its ends.
class LoopbackPair {
 public:
  LoopbackPair() {
    const UniqueFd listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listening.get(), generic, size), 0);
    EXPECT_EQ(::listen(listening.get(), 1), 0);
    getsockname(listening.get(), generic, &size);
    client_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(client_.get(), generic, size), 0);
    server_ = UniqueFd(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
    getsockname(client_.get(), generic, &size);
    peer_ = absl::StrCat("ipv4:127.0.0.1:", ntohs(address.sin_port));
  }

  int server() const { return server_.get(); }
  const std::string& peer() const { return peer_; }
  // Ends the connection as gRPC does.
  void CloseServer() {
    ::shutdown(server_.get(), SHUT_RDWR);
    server_ = UniqueFd();
  }

  // Returns whether all of it arrived.
  bool Send(int64_t bytes) const {
    const std::string chunk(64 << 10, 'x');
    std::string read(chunk.size(), ' ');
    for (int64_t sent = 0; sent < bytes; sent += static_cast<int64_t>(chunk.size())) {
      if (::send(client_.get(), chunk.data(), chunk.size(), MSG_NOSIGNAL) < 0) return false;
      if (::recv(server_.get(), read.data(), read.size(), MSG_WAITALL) <= 0) return false;
    }
    return true;
  }
  // Sends until the other end's kernel holds `bytes` or more that nobody has read.
  void SendUnread(int64_t bytes) const {
    const std::string chunk(64 << 10, 'x');
    for (int64_t sent = 0; sent < bytes;) {
      const ssize_t more = ::send(client_.get(), chunk.data(), chunk.size(), MSG_NOSIGNAL);
      ASSERT_GT(more, 0);
      sent += more;
    }
  }
  // Returns what gRPC can still read, up to 64 KiB; -1 if it is told of an error instead.
  ssize_t Unread() const {
    std::string read(64 << 10, ' ');
    return ::recv(server_.get(), read.data(), read.size(), MSG_DONTWAIT);
  }
  bool IsOpen() const {
    char byte = 0;
    return ::recv(client_.get(), &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
  }

 private:
  UniqueFd client_;
  UniqueFd server_;
  std::string peer_;
};

class ConnectionGuardTest : public testing::Test {
 protected:
  ConnectionGuardTest() { Start({}); }

  void Start(const HeldLimits& limits) {
    GuardOptions options;
    options.limits = limits;
    options.clock = [this] { return now_; };
    options.log = [this](const LogEntry& entry) { logged_.push_back(entry.message); };
    options.refused = [this] { ++refused_; };
    options.resident_bytes = [this] { return resident_bytes_; };
    guard_ = std::make_unique<ConnectionGuard>(std::move(options));
  }
  void Pass(absl::Duration duration) { now_ = now_ + duration; }

  MonotonicTime now_{absl::Seconds(1000)};
  std::vector<std::string> logged_;
  int refused_ = 0;
  int64_t resident_bytes_ = 50 * kMib;
  std::unique_ptr<ConnectionGuard> guard_;
};

TEST_F(ConnectionGuardTest, WhoSendsWholeMessagesSendsAsManyAsItLikes) {
  const LoopbackPair pair;
  ASSERT_TRUE(guard_->Add(pair.server()).ok());
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(pair.Send(8 * kMib));
    // gRPC may hand a message on before or after the guard looks.
    if (i % 2 == 0) guard_->Check();
    guard_->Received(pair.peer(), 8 * kMib);
    guard_->Check();
    Pass(absl::Seconds(20));
  }
  EXPECT_TRUE(pair.IsOpen());
  EXPECT_EQ(refused_, 0);
}

TEST_F(ConnectionGuardTest, ClosesWhoSendsMoreThanTheLargestMessageAndNoWholeOne) {
  const LoopbackPair pair;
  const LoopbackPair other;
  ASSERT_TRUE(guard_->Add(pair.server()).ok());
  ASSERT_TRUE(guard_->Add(other.server()).ok());
  ASSERT_TRUE(pair.Send(39 * kMib));
  guard_->Check();
  EXPECT_TRUE(pair.IsOpen());
  ASSERT_TRUE(pair.Send(2 * kMib));
  guard_->Check();
  EXPECT_FALSE(pair.IsOpen());
  EXPECT_TRUE(other.IsOpen());
  EXPECT_EQ(refused_, 1);
  EXPECT_THAT(logged_, ElementsAre(absl::StrCat("closed the connection of ", pair.peer(),
                                                ": it sent 41 MiB of incomplete messages; "
                                                "one connection may send 40 MiB")));
}

TEST_F(ConnectionGuardTest, WhatAClosedConnectionSentIsNotReadAnyMore) {
  Start({.connection_bytes = 64 << 10});
  const LoopbackPair pair;
  ASSERT_TRUE(guard_->Add(pair.server()).ok());
  pair.SendUnread(256 << 10);
  ASSERT_EQ(pair.Unread(), 64 << 10);
  guard_->Check();
  EXPECT_LE(pair.Unread(), 0);
  EXPECT_FALSE(pair.IsOpen());
}

TEST_F(ConnectionGuardTest, SmallMessagesDoNotHideALargeOneThatDoesNotEnd) {
  const LoopbackPair pair;
  ASSERT_TRUE(guard_->Add(pair.server()).ok());
  for (int i = 0; i < 42 && pair.IsOpen(); ++i) {
    ASSERT_TRUE(pair.Send(kMib));
    guard_->Received(pair.peer(), 10);
    guard_->Check();
  }
  EXPECT_FALSE(pair.IsOpen());
}

TEST_F(ConnectionGuardTest, ClosesWhoHoldsMostOnceAllHoldTooMuch) {
  const std::vector<LoopbackPair> pairs(7);
  for (size_t i = 0; i < pairs.size(); ++i) {
    ASSERT_TRUE(guard_->Add(pairs[i].server()).ok());
    ASSERT_TRUE(pairs[i].Send((7 + static_cast<int64_t>(i)) * kMib));
  }
  guard_->Check();  // of 7 + 8 + ... + 13 = 70 MiB
  EXPECT_FALSE(pairs.back().IsOpen());
  for (size_t i = 0; i + 1 < pairs.size(); ++i) EXPECT_TRUE(pairs[i].IsOpen());
  EXPECT_THAT(logged_, ElementsAre(HasSubstr("this connection sent the most, 13 MiB")));
}

TEST_F(ConnectionGuardTest, ClosesWhoHoldsMuchForLong) {
  const LoopbackPair pair;
  const LoopbackPair little;
  ASSERT_TRUE(guard_->Add(pair.server()).ok());
  ASSERT_TRUE(guard_->Add(little.server()).ok());
  ASSERT_TRUE(pair.Send(10 * kMib));
  ASSERT_TRUE(little.Send(kMib / 2));
  guard_->Check();
  Pass(absl::Seconds(119));
  guard_->Check();
  EXPECT_TRUE(pair.IsOpen());
  Pass(absl::Seconds(2));
  guard_->Check();
  EXPECT_FALSE(pair.IsOpen());
  EXPECT_TRUE(little.IsOpen());
  EXPECT_THAT(logged_,
              ElementsAre(HasSubstr("it held more than 1 MiB of incomplete messages for 2m")));
}

TEST_F(ConnectionGuardTest, ClosesWhoResetsCallsFasterThanTheyAreForgiven) {
  const LoopbackPair pair;
  ASSERT_TRUE(guard_->Add(pair.server()).ok());
  for (int i = 0; i < 5000; ++i) {
    guard_->CountReset(pair.peer());
    Pass(absl::Milliseconds(100));
  }
  EXPECT_TRUE(pair.IsOpen());
  for (int i = 0; i < 199; ++i) guard_->CountReset(pair.peer());
  EXPECT_TRUE(pair.IsOpen());
  for (int i = 0; i < 2; ++i) guard_->CountReset(pair.peer());
  EXPECT_FALSE(pair.IsOpen());
  EXPECT_THAT(logged_, ElementsAre(HasSubstr("it reset more than 200 calls")));
}

TEST_F(ConnectionGuardTest, ClosesWhoHoldsMostWhileTheProcessGrows) {
  const LoopbackPair floods;
  const LoopbackPair sends;
  ASSERT_TRUE(guard_->Add(floods.server()).ok());
  ASSERT_TRUE(guard_->Add(sends.server()).ok());
  guard_->Check();
  ASSERT_TRUE(floods.Send(kMib));
  ASSERT_TRUE(sends.Send(kMib / 2));
  resident_bytes_ = 145 * kMib;
  guard_->Check();
  EXPECT_TRUE(floods.IsOpen());
  resident_bytes_ = 147 * kMib;
  guard_->Check();
  EXPECT_FALSE(floods.IsOpen());
  EXPECT_TRUE(sends.IsOpen());
  EXPECT_THAT(logged_, ElementsAre(HasSubstr("the process has grown by 97 MiB and may grow by 96 "
                                             "MiB for messages and calls")));
}

TEST_F(ConnectionGuardTest, GrowthForOtherReasonsClosesNobody) {
  const LoopbackPair sends;
  ASSERT_TRUE(guard_->Add(sends.server()).ok());
  guard_->Check();
  resident_bytes_ = 500 * kMib;  // a search, say
  guard_->Check();
  Pass(absl::Seconds(6));
  guard_->Check();
  ASSERT_TRUE(sends.Send(kMib));
  guard_->Check();
  EXPECT_TRUE(sends.IsOpen());
}

TEST_F(ConnectionGuardTest, KeepsNoConnectionAliveThatGrpcHasEnded) {
  LoopbackPair pair;
  const int32_t open = OpenDescriptors();
  ASSERT_TRUE(guard_->Add(pair.server()).ok());
  guard_->Check();
  EXPECT_EQ(OpenDescriptors(), open + 1);
  pair.CloseServer();
  guard_->Check();
  EXPECT_EQ(OpenDescriptors(), open - 1);
}

TEST_F(ConnectionGuardTest, WithoutADescriptorAConnectionIsRefused) {
  const LoopbackPair pair;
  const FewDescriptors limit(/*spare=*/0);
  EXPECT_EQ(guard_->Add(pair.server()).message(), "Too many open files");
}

TEST_F(ConnectionGuardTest, PeersThatItDoesNotKnowAreIgnored) {
  guard_->Received("ipv4:127.0.0.1:1", 10);
  guard_->CountReset("unix:/nothing");
  guard_->Check();
  EXPECT_THAT(logged_, IsEmpty());
}

}  // namespace
}  // namespace meshwright::server
