#include "executor/gang/handshake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace meshwright::gang {
namespace {

using testing::HasSubstr;

const std::string kDialersNonce(kNonceBytes, 'd');
const std::string kListenersNonce(kNonceBytes, 'g');

// Brings what `from` has to say to `to`, a byte at a time.
absl::Status Bring(Handshake& from, Handshake& to) {
  for (const char byte : from.TakeOutput()) {
    EXPECT_GT(to.wanted_bytes(), 0u);
    absl::Status status = to.TakeIn({&byte, 1});
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

TEST(HandshakeTest, TwoThatKnowTheSecretKnowEachOther) {
  for (const Purpose purpose : {Purpose::kLink, Purpose::kTunnel}) {
    Handshake dialer = Handshake::OfDialer("secret", purpose, kDialersNonce);
    Handshake listener = Handshake::OfListener("secret", kListenersNonce);
    EXPECT_EQ(Bring(dialer, listener), absl::OkStatus());
    EXPECT_FALSE(listener.done());
    EXPECT_EQ(Bring(listener, dialer), absl::OkStatus());
    EXPECT_TRUE(dialer.done());
    EXPECT_EQ(Bring(dialer, listener), absl::OkStatus());
    EXPECT_TRUE(listener.done());
    EXPECT_EQ(listener.purpose(), purpose);
    EXPECT_EQ(listener.wanted_bytes(), 0u);
    EXPECT_EQ(listener.TakeOutput(), "");
  }
}

TEST(HandshakeTest, NeitherEndTakesAnotherSecret) {
  Handshake dialer = Handshake::OfDialer("secret", Purpose::kLink, kDialersNonce);
  Handshake listener = Handshake::OfListener("another", kListenersNonce);
  EXPECT_EQ(Bring(dialer, listener), absl::OkStatus());
  // One that knows it not even asks for the dialer's proof in vain.
  const absl::Status refused = Bring(listener, dialer);
  EXPECT_TRUE(absl::IsPermissionDenied(refused));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("does not know the secret"));
  EXPECT_FALSE(dialer.done());
  EXPECT_EQ(dialer.TakeOutput(), "");
  EXPECT_TRUE(absl::IsPermissionDenied(listener.TakeIn(std::string(listener.wanted_bytes(), 'x'))));
  EXPECT_FALSE(listener.done());
}

TEST(HandshakeTest, AListenerKnowsGarbageByItsFirstBytes) {
  Handshake listener = Handshake::OfListener("secret", kListenersNonce);
  EXPECT_TRUE(
      absl::IsPermissionDenied(listener.TakeIn("GET / HTTP/1.1\r\nHost: example.com\r\n\r\n")));
  EXPECT_EQ(listener.TakeOutput(), "");
}

TEST(HandshakeTest, APurposeThatIsNoneIsRefused) {
  Handshake listener = Handshake::OfListener("secret", kListenersNonce);
  EXPECT_TRUE(absl::IsPermissionDenied(listener.TakeIn("MWGANG1\nX" + kDialersNonce)));
}

// What was said on one connection proves nothing on another.
TEST(HandshakeTest, AProofCountsForItsNoncesAlone) {
  Handshake dialer = Handshake::OfDialer("secret", Purpose::kLink, kDialersNonce);
  Handshake listener = Handshake::OfListener("secret", kListenersNonce);
  ASSERT_EQ(listener.TakeIn(dialer.TakeOutput()), absl::OkStatus());
  ASSERT_EQ(dialer.TakeIn(listener.TakeOutput()), absl::OkStatus());
  const std::string proof = dialer.TakeOutput();
  Handshake again = Handshake::OfDialer("secret", Purpose::kLink, kDialersNonce);
  Handshake other_listener = Handshake::OfListener("secret", std::string(kNonceBytes, 'h'));
  ASSERT_EQ(other_listener.TakeIn(again.TakeOutput()), absl::OkStatus());
  EXPECT_TRUE(absl::IsPermissionDenied(other_listener.TakeIn(proof)));
}

// Nor does a listener's own proof, sent back to it.
TEST(HandshakeTest, AListenersProofIsNotADialers) {
  Handshake listener = Handshake::OfListener("secret", kListenersNonce);
  ASSERT_EQ(listener.TakeIn("MWGANG1\nL" + kListenersNonce), absl::OkStatus());
  const std::string proof = listener.TakeOutput().substr(kNonceBytes);
  EXPECT_TRUE(absl::IsPermissionDenied(listener.TakeIn(proof)));
}

TEST(HandshakeTest, NoncesDiffer) {
  EXPECT_EQ(NewNonce().value().size(), kNonceBytes);
  EXPECT_NE(NewNonce().value(), NewNonce().value());
}

}  // namespace
}  // namespace meshwright::gang
