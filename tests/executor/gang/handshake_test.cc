#include "executor/gang/handshake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace meshwright::gang {
namespace {

using testing::HasSubstr;

const std::string kDialersNonce(kNonceBytes, 'd');
const std::string kGatesNonce(kNonceBytes, 'g');

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
    Handshake gate = Handshake::OfListener("secret", kGatesNonce);
    EXPECT_EQ(Bring(dialer, gate), absl::OkStatus());
    EXPECT_FALSE(gate.done());
    EXPECT_EQ(Bring(gate, dialer), absl::OkStatus());
    EXPECT_TRUE(dialer.done());
    EXPECT_EQ(Bring(dialer, gate), absl::OkStatus());
    EXPECT_TRUE(gate.done());
    EXPECT_EQ(gate.purpose(), purpose);
    EXPECT_EQ(gate.wanted_bytes(), 0u);
    EXPECT_EQ(gate.TakeOutput(), "");
  }
}

TEST(HandshakeTest, NeitherEndTakesAnotherSecret) {
  Handshake dialer = Handshake::OfDialer("secret", Purpose::kLink, kDialersNonce);
  Handshake gate = Handshake::OfListener("another", kGatesNonce);
  EXPECT_EQ(Bring(dialer, gate), absl::OkStatus());
  // One that knows it not even asks for the dialer's proof in vain.
  const absl::Status refused = Bring(gate, dialer);
  EXPECT_TRUE(absl::IsPermissionDenied(refused));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("does not know the secret"));
  EXPECT_FALSE(dialer.done());
  EXPECT_EQ(dialer.TakeOutput(), "");
  EXPECT_TRUE(absl::IsPermissionDenied(gate.TakeIn(std::string(gate.wanted_bytes(), 'x'))));
  EXPECT_FALSE(gate.done());
}

TEST(HandshakeTest, AGateKnowsGarbageByItsFirstBytes) {
  Handshake gate = Handshake::OfListener("secret", kGatesNonce);
  EXPECT_TRUE(absl::IsPermissionDenied(gate.TakeIn("GET / HTTP/1.1\r\nHost: example.com\r\n\r\n")));
  EXPECT_EQ(gate.TakeOutput(), "");
}

TEST(HandshakeTest, APurposeThatIsNoneIsRefused) {
  Handshake gate = Handshake::OfListener("secret", kGatesNonce);
  EXPECT_TRUE(absl::IsPermissionDenied(gate.TakeIn("MWGANG1\nX" + kDialersNonce)));
}

// What was said on one connection proves nothing on another.
TEST(HandshakeTest, AProofCountsForItsNoncesAlone) {
  Handshake dialer = Handshake::OfDialer("secret", Purpose::kLink, kDialersNonce);
  Handshake gate = Handshake::OfListener("secret", kGatesNonce);
  ASSERT_EQ(gate.TakeIn(dialer.TakeOutput()), absl::OkStatus());
  ASSERT_EQ(dialer.TakeIn(gate.TakeOutput()), absl::OkStatus());
  const std::string proof = dialer.TakeOutput();
  Handshake again = Handshake::OfDialer("secret", Purpose::kLink, kDialersNonce);
  Handshake other_gate = Handshake::OfListener("secret", std::string(kNonceBytes, 'h'));
  ASSERT_EQ(other_gate.TakeIn(again.TakeOutput()), absl::OkStatus());
  EXPECT_TRUE(absl::IsPermissionDenied(other_gate.TakeIn(proof)));
}

// Nor does a listener's own proof, sent back to it.
TEST(HandshakeTest, AGatesProofIsNotADialers) {
  Handshake gate = Handshake::OfListener("secret", kGatesNonce);
  ASSERT_EQ(gate.TakeIn("MWGANG1\nL" + kGatesNonce), absl::OkStatus());
  const std::string proof = gate.TakeOutput().substr(kNonceBytes);
  EXPECT_TRUE(absl::IsPermissionDenied(gate.TakeIn(proof)));
}

TEST(HandshakeTest, NoncesDiffer) {
  EXPECT_EQ(NewNonce().value().size(), kNonceBytes);
  EXPECT_NE(NewNonce().value(), NewNonce().value());
}

}  // namespace
}  // namespace meshwright::gang
