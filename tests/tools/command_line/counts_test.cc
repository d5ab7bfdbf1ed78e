#include "tools/command_line/counts.h"

#include <gtest/gtest.h>

namespace meshwright::command_line {
namespace {

TEST(CountDigits, UnitsAreThoseOfTokens) {
  EXPECT_EQ(CountDigits("8192"), "8192");
  EXPECT_EQ(CountDigits("8k"), "8192");
  EXPECT_EQ(CountDigits("128K"), "131072");
  EXPECT_EQ(CountDigits("4M"), "4194304");
  EXPECT_EQ(CountDigits("1.5k"), "1536");
  EXPECT_EQ(CountDigits("2e6"), "2000000");
}

TEST(CountDigits, WhatIsNoWholeCountStaysAsItIs) {
  for (const char* typed : {"", "k", "8kk", "1.0001k", "2.5", "8G", "nan", "1e40", "-"}) {
    EXPECT_EQ(CountDigits(typed), typed);
  }
}

}  // namespace
}  // namespace meshwright::command_line
