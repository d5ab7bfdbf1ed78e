#include "tools/cli/io/text.h"

#include <gtest/gtest.h>

namespace meshwright::cli {
namespace {

TEST(Text, GroupsThousands) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1000), "1,000");
  EXPECT_EQ(FormatCount(1234567), "1,234,567");
  EXPECT_EQ(FormatCount(-123456), "-123,456");
}

TEST(Text, PicksTheUnit) {
  EXPECT_EQ(FormatBytes(789), "789 B");
  EXPECT_EQ(FormatBytes(int64_t{3} << 30), "3.00 GiB");
  EXPECT_EQ(FormatSeconds(0.0123), "12.3 ms");
  EXPECT_EQ(FormatSeconds(2.5), "2.50 s");
  EXPECT_EQ(FormatPercent(0.4567), "45.7 %");
}

}  // namespace
}  // namespace meshwright::cli
