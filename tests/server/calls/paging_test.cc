#include "server/calls/paging.h"

#include "gtest/gtest.h"

namespace meshwright::server {
namespace {

TEST(PagingTest, ReadsWhatItGave) {
  EXPECT_EQ(ReadPage(0, "")->size, 50);
  EXPECT_EQ(ReadPage(7, PageToken(12))->position, 12);
}

TEST(PagingTest, RefusesOtherTokensAndSizes) {
  EXPECT_TRUE(absl::IsInvalidArgument(ReadPage(-1, "").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ReadPage(1001, "").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ReadPage(1, "x").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ReadPage(1, "-3").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ReadPage(1, "99999999999").status()));
}

}  // namespace
}  // namespace meshwright::server
