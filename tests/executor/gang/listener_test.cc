// A listener and members that connect to it, over sockets of this host.
#include "executor/gang/listener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "executor/gang/arrivals.h"
#include "executor/gang/gang.h"
#include "executor/gang/relay.h"
#include "tests/executor/gang/socket_pair.h"

namespace meshwright::gang {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr char kListenerSecret[] = "a secret of some length";

// A relay that answers each tunnel with the far end of a pair.
class ListenerTest : public testing::Test {
 protected:
  explicit ListenerTest(double handshake_s = 10.0) {
    RelayOptions options;
    options.listener = listener_->socket();
    options.admit = [handshake_s](UniqueFd accepted) -> absl::StatusOr<Newcomer> {
      auto greeting = Greeting::OfListener(std::move(accepted), kListenerSecret,
                                           MonotonicNow() + absl::Seconds(handshake_s));
      if (!greeting.ok()) return greeting.status();
      return Newcomer{.greeting = *std::move(greeting), .worker = {}};
    };
    options.join = [this](Newcomer newcomer) -> std::optional<TunnelEnds> {
      UniqueFd socket = newcomer.greeting.TakeSocket();
      if (newcomer.greeting.purpose() == Purpose::kLink) {
        arrivals_.Push(std::move(socket));
        return std::nullopt;
      }
      return TunnelEnds{.near = std::move(inner_.b), .far = std::move(socket)};
    };
    relay_ = Relay::Start(std::move(options)).value();
  }

  // As who knows `secret`.
  Greeting Come(const std::string& secret, Purpose purpose) {
    const SocketAddress address = ResolveHostPort(listener_->rendezvous()).value();
    return Greeting::Begin(address, secret, purpose, MonotonicNow() + absl::Seconds(10)).value();
  }
  static absl::Status Finish(Greeting& greeting) {
    absl::Status status;
    EXPECT_TRUE(Eventually([&] {
      status = greeting.Step(MonotonicNow());
      return greeting.done() || !status.ok();
    }));
    return status;
  }

  std::shared_ptr<Listener> listener_ = Listener::Open("127.0.0.1").value();
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
  Greeting link = Come(kListenerSecret, Purpose::kLink);
  ASSERT_EQ(Finish(link), absl::OkStatus());
  std::vector<UniqueFd> arrived;
  ASSERT_TRUE(Eventually([&] {
    arrived = arrivals_.TakeAll();
    return !arrived.empty();
  }));
  const UniqueFd socket = link.TakeSocket();
  Write(socket, "hello");
  std::string heard;
  EXPECT_TRUE(Eventually([&] { return (heard += ReadAll(arrived.front())) == "hello"; }));
}

TEST_F(ListenerTest, WorkersGetThrough) {
  Greeting tunnel = Come(kListenerSecret, Purpose::kTunnel);
  ASSERT_EQ(Finish(tunnel), absl::OkStatus());
  const UniqueFd socket = tunnel.TakeSocket();
  Write(socket, "set key");
  std::string heard;
  EXPECT_TRUE(Eventually([&] { return (heard += ReadAll(inner_.a)) == "set key"; }));
  Write(inner_.a, "value");
  heard.clear();
  EXPECT_TRUE(Eventually([&] { return (heard += ReadAll(socket)) == "value"; }));
}

TEST_F(ListenerTest, StrangersAreDroppedAndDisturbNobody) {
  Greeting stranger = Come("another secret of some length", Purpose::kLink);
  EXPECT_THAT(std::string(Finish(stranger).message()), HasSubstr("does not know the secret"));
  const SocketAddress address = ResolveHostPort(listener_->rendezvous()).value();
  std::vector<UniqueFd> silent(20);
  for (UniqueFd& one : silent) one = Dial(address).value();
  const UniqueFd garbage = Dial(address).value();
  pollfd connected = {.fd = garbage.get(), .events = POLLOUT, .revents = 0};
  ASSERT_EQ(::poll(&connected, 1, 5000), 1);
  Write(garbage, std::string(100'000, '\xff'));
  bool ended = false;
  EXPECT_TRUE(Eventually([&] { return ReadAll(garbage, &ended).empty() && ended; }));
  Greeting member = Come(kListenerSecret, Purpose::kLink);
  EXPECT_EQ(Finish(member), absl::OkStatus());
}

class ImpatientListenerTest : public ListenerTest {
 protected:
  ImpatientListenerTest() : ListenerTest(/*handshake_s=*/0.1) {}
};

TEST_F(ImpatientListenerTest, WhoSaysNothingIsDropped) {
  const UniqueFd silent = Dial(ResolveHostPort(listener_->rendezvous()).value()).value();
  bool ended = false;
  EXPECT_TRUE(Eventually([&] {
    ReadAll(silent, &ended);
    return ended;
  }));
}

TEST(MembershipTest, MustBeOfTheWholeLayout) {
  Membership membership{.members = {{"a", 0, 2}, {"b", 2, 2}},
                        .member = 1,
                        .secret = kListenerSecret,
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
}

}  // namespace
}  // namespace meshwright::gang
