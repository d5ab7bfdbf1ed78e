// What a token is, and when it counts.
#include "db/token.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace meshwright::db {
namespace {

using ::testing::HasSubstr;

TEST(TokenTest, TokensDifferAndLookLikeTokens) {
  const std::string token = *NewToken();
  EXPECT_TRUE(LooksLikeToken(token));
  EXPECT_EQ(token.size(), 4u + 64u);
  EXPECT_NE(token, *NewToken());
  for (const std::string& other : {std::string(), token.substr(4), token + "0", token.substr(0, 67),
                                   "mwt_" + std::string(64, 'g'), "mwt-" + token.substr(4)}) {
    EXPECT_FALSE(LooksLikeToken(other)) << other;
  }
}

// FIPS 180-2, appendix B.1.
TEST(TokenTest, TheHashIsSha256) {
  EXPECT_EQ(HashOf("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_TRUE(SameHash(HashOf("abc"), HashOf("abc")));
  EXPECT_FALSE(SameHash(HashOf("abc"), HashOf("abd")));
  EXPECT_FALSE(SameHash(HashOf("abc"), HashOf("abc").substr(0, 63)));
}

TEST(TokenTest, CountsUntilItExpiresOrIsRevoked) {
  const absl::Time now = absl::FromUnixSeconds(1'700'000'000);
  TokenRecord token{.name = "ann", .create_time = now - absl::Hours(1)};
  EXPECT_TRUE(CheckCounts(token, now).ok());
  token.expire_time = now + absl::Seconds(1);
  EXPECT_TRUE(CheckCounts(token, now).ok());
  token.expire_time = now;
  EXPECT_TRUE(absl::IsUnauthenticated(CheckCounts(token, now)));
  EXPECT_THAT(std::string(CheckCounts(token, now).message()),
              HasSubstr("token ann expired on 2023-11-14 22:13 UTC: use another"));
  token.expire_time.reset();
  token.revoke_time = now;
  EXPECT_THAT(std::string(CheckCounts(token, now).message()),
              HasSubstr("token ann was revoked on 2023-11-14 22:13 UTC"));
}

}  // namespace
}  // namespace meshwright::db
