#include "base/system/host_port.h"

#include "gtest/gtest.h"

namespace meshwright {
namespace {

TEST(HostPortTest, ReadsHostAndPort) {
  EXPECT_EQ(*ParseHostPort("127.0.0.1:0"), (HostPort{"127.0.0.1", 0}));
  EXPECT_EQ(*ParseHostPort("[::1]:7077"), (HostPort{"[::1]", 7077}));
  for (const char* text : {"", "localhost", ":7077", "a:", "a:x", "a:65536", "a:-1", "::1:7077"}) {
    EXPECT_FALSE(ParseHostPort(text).ok()) << text;
  }
}

TEST(HostPortTest, KnowsWhatOnlyThisMachineReaches) {
  EXPECT_TRUE(IsLoopback({"127.0.0.2", 1}));
  EXPECT_TRUE(IsLoopback({"localhost", 1}));
  EXPECT_FALSE(IsLoopback({"0.0.0.0", 1}));
  EXPECT_FALSE(IsLoopback({"[::]", 1}));
  // Names, whatever they begin with.
  for (const char* name : {"127.example.com", "127.0.0.1.example.com", "127.0.0.1x", "127."}) {
    EXPECT_FALSE(IsLoopback({name, 1})) << name;
  }
}

TEST(HostPortTest, AnIpv6AddressGetsBrackets) {
  EXPECT_EQ(ToText(WithPort("::1", 5)), "[::1]:5");
  EXPECT_EQ(ToText(WithPort("some.host", 5)), "some.host:5");
}

}  // namespace
}  // namespace meshwright
