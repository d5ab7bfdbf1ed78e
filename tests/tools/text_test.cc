#include "tools/cli/text.h"

#include <gtest/gtest.h>

#include <sstream>

namespace meshwright {
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

TEST(Text, TablesAlignNumbersRight) {
  Table table({"name", "n"});
  table.Add({"a", "1"});
  table.Add({"long", "100"});
  std::ostringstream out;
  table.Print(out);
  EXPECT_EQ(out.str(), "name    n\na       1\nlong  100\n");
}

}  // namespace
}  // namespace meshwright
