#include "server/calls/open_calls.h"

#include "gtest/gtest.h"

namespace meshwright::server {
namespace {

TEST(OpenCallsTest, NamesEachMethodWithItsNumberOfCalls) {
  OpenCalls calls;
  EXPECT_EQ(calls.ToText(), "");
  calls.Began("/a.B/C");
  calls.Began("/a.B/D");
  calls.Began("/a.B/C");
  EXPECT_EQ(calls.ToText(), "2 of /a.B/C, 1 of /a.B/D");
  calls.Ended("/a.B/D");
  calls.Ended("/a.B/C");
  EXPECT_EQ(calls.ToText(), "1 of /a.B/C");
}

}  // namespace
}  // namespace meshwright::server
