// A listener and members that connect to it, over sockets of this host.
#include "executor/gang/listener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "executor/gang/arrivals.h"
#include "executor/gang/gang.h"
#include "executor/gang/relay.h"
#include "tests/executor/gang/tls_pair.h"

namespace meshwright::gang {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// A relay that answers each tunnel with the far end of a pair.
class ListenerTest : public testing::Test {
 protected:
  ListenerTest() {
    RelayOptions options;
    options.listener = listener_->socket();
    options.clock = clock_.clock();
    options.admit = [clock = clock_.clock()](UniqueFd accepted) -> absl::StatusOr<TunnelEnds> {
      auto socket =
          TlsSocket::OfListener(std::move(accepted), kSecret, clock() + absl::Seconds(10));
      if (!socket.ok()) return socket.status();
      return TunnelEnds{.near = {}, .far = *std::move(socket)};
    };
    options.join = [this](TunnelEnds& ends) {
      if (ends.far.purpose() == Purpose::kLink) {
        arrivals_.Push(std::move(ends.far));
        return false;
      }
      ends.near = std::move(inner_.b);
      return true;
    };
    relay_ = Relay::Start(std::move(options)).value();
  }

  TlsSocket Come(Purpose purpose, const std::string& secret = kSecret) {
    return DialTls(listener_->rendezvous(), secret, purpose);
  }

  std::shared_ptr<Listener> listener_ = Listener::Open("127.0.0.1").value();
  SkippableClock clock_;
  SocketPair inner_ = MakeSocketPair();
  Arrivals arrivals_;
  std::unique_ptr<Relay> relay_;
};

TEST_F(ListenerTest, TellsWhereItIs) {
  EXPECT_THAT(listener_->rendezvous(), StartsWith("127.0.0.1:"));
  EXPECT_EQ(ResolveHostPort("[::1]:5").value().port(), 5);
  EXPECT_FALSE(ResolveHostPort("127.0.0.1").ok());
  EXPECT_FALSE(ResolveHostPort("127.0.0.1:x").ok());
  EXPECT_FALSE(ResolveHostPort("127.0.0.1:70000").ok());
}

TEST_F(ListenerTest, IsNotOpenedAtAnAddressOfAnotherHost) {
  EXPECT_TRUE(absl::IsUnavailable(Listener::Open("192.0.2.1").status()));
}

TEST_F(ListenerTest, MembersGetThrough) {
  TlsSocket link = Come(Purpose::kLink);
  ASSERT_EQ(Finish(link), absl::OkStatus());
  std::vector<TlsSocket> arrived;
  ASSERT_TRUE(Eventually([&] {
    arrived = arrivals_.TakeAll();
    return !arrived.empty();
  }));
  Write(link, "hello");
  std::string heard;
  EXPECT_TRUE(Eventually([&] { return (heard += ReadAll(arrived.front())) == "hello"; }));
}

TEST_F(ListenerTest, WorkersGetThrough) {
  TlsSocket tunnel = Come(Purpose::kTunnel);
  ASSERT_EQ(Finish(tunnel), absl::OkStatus());
  Write(tunnel, "set key");
  std::string heard;
  EXPECT_TRUE(Eventually([&] { return (heard += ReadAll(inner_.a)) == "set key"; }));
  Write(inner_.a, "value");
  heard.clear();
  EXPECT_TRUE(Eventually([&] { return (heard += ReadAll(tunnel)) == "value"; }));
}

TEST_F(ListenerTest, StrangersAreDroppedAndDisturbNobody) {
  TlsSocket stranger = Come(Purpose::kLink, "another secret of some length");
  EXPECT_THAT(std::string(Finish(stranger).message()), HasSubstr("does not know the secret"));
  const SocketAddress address = ResolveHostPort(listener_->rendezvous()).value();
  std::vector<UniqueFd> silent(20);
  for (UniqueFd& one : silent) one = Dial(address).value();
  const UniqueFd garbage = DialPlain(address);
  Write(garbage, std::string(100'000, '\xff'));
  bool ended = false;
  EXPECT_TRUE(Eventually([&] { return ReadAll(garbage, &ended).empty() && ended; }));
  TlsSocket member = Come(Purpose::kLink);
  EXPECT_EQ(Finish(member), absl::OkStatus());
}

TEST_F(ListenerTest, WhoSaysNothingIsDropped) {
  const UniqueFd silent = DialPlain(ResolveHostPort(listener_->rendezvous()).value());
  bool ended = false;
  EXPECT_TRUE(Eventually([&] {
    clock_.Skip(1.0);
    ReadAll(silent, &ended);
    return ended;
  }));
}

// At most 256 wait, and the oldest of them has to go after a second.
TEST_F(ListenerTest, ManyWhoSayNothingDoNotKeepAMemberOut) {
  const SocketAddress address = ResolveHostPort(listener_->rendezvous()).value();
  std::vector<UniqueFd> silent(256);
  for (UniqueFd& one : silent) one = DialPlain(address);
  TlsSocket member = Come(Purpose::kLink);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(member.ShakeHands(MonotonicNow()), absl::OkStatus());
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(member.ShakeHands(MonotonicNow()), absl::OkStatus());
  EXPECT_FALSE(member.is_authenticated());
  clock_.Skip(2.0);
  EXPECT_EQ(Finish(member), absl::OkStatus());
  size_t dropped = 0;
  for (const UniqueFd& one : silent) {
    bool ended = false;
    ReadAll(one, &ended);
    dropped += ended ? 1 : 0;
  }
  EXPECT_GE(dropped, 1u);
  EXPECT_LE(dropped, 2u);
}

TEST(MembershipTest, MustBeOfTheWholeLayout) {
  Membership membership{.members = {{"a", 0, 2}, {"b", 2, 2}},
                        .member = 1,
                        .secret = kSecret,
                        .address = "127.0.0.1",
                        .rendezvous = "127.0.0.1:1"};
  EXPECT_EQ(Validate(membership, 4), absl::OkStatus());
  EXPECT_FALSE(Validate(membership, 3).ok());
  EXPECT_FALSE(Validate(membership, 5).ok());
  membership.members[1].first_rank = 3;
  EXPECT_FALSE(Validate(membership, 4).ok());
  membership.members[1] = {"b", 2, 2};
  membership.member = 2;
  EXPECT_FALSE(Validate(membership, 4).ok());
  membership.member = 0;
  EXPECT_THAT(std::string(Validate(membership, 4).message()), HasSubstr("listener"));
  membership.member = 1;
  membership.secret = "short";
  const std::string message(Validate(membership, 4).message());
  EXPECT_THAT(message, HasSubstr("secret"));
  EXPECT_EQ(message.find("short"), std::string::npos);
  membership.secret = std::string(513, 'x');
  EXPECT_THAT(std::string(Validate(membership, 4).message()), HasSubstr("16 to 512 bytes"));
}

}  // namespace
}  // namespace meshwright::gang
