// Resource names, addresses and statuses on the wire.
#include "gtest/gtest.h"
#include "proto/address.h"
#include "proto/meshwright/v1/resource_names.h"
#include "proto/rpc_status.h"

namespace meshwright {
namespace {

TEST(ResourceNamesTest, RoundTrip) {
  EXPECT_EQ(FormatTrialName("tiny-1", 3), "sweeps/tiny-1/trials/3");
  EXPECT_EQ(*ParseTrialName("sweeps/tiny-1/trials/3"), (TrialName{"tiny-1", 3}));
  EXPECT_EQ(*ParseSweepName(FormatSweepName("a.b_c-1")), "a.b_c-1");
}

// A command line takes it for a flag. Those that are stored can still be read, to be deleted.
TEST(ResourceNamesTest, ANewNameDoesNotBeginWithADash) {
  EXPECT_FALSE(CheckSweepId("-x").ok());
  EXPECT_FALSE(CheckSweepId("--watch").ok());
  EXPECT_TRUE(CheckSweepId("x-").ok());
  EXPECT_TRUE(CheckSweepId("_x").ok());
  EXPECT_EQ(*ParseSweepName("sweeps/-x"), "-x");
}

TEST(ResourceNamesTest, RefusesOtherText) {
  for (const char* name : {"", "sweeps/", "sweeps/a b", "sweeps/a/b", "trials/1", "sweeps/.x"}) {
    EXPECT_FALSE(ParseSweepName(name).ok()) << name;
  }
  for (const char* name : {"sweeps/a", "sweeps/a/trials/", "sweeps/a/trials/0", "sweeps/a/trials/x",
                           "sweeps/a/trials/99999999999"}) {
    EXPECT_FALSE(ParseTrialName(name).ok()) << name;
  }
}

TEST(AddressTest, ReadsHostAndPort) {
  EXPECT_EQ(*ParseHostPort("127.0.0.1:0"), (HostPort{"127.0.0.1", 0}));
  EXPECT_EQ(*ParseHostPort("[::1]:7077"), (HostPort{"[::1]", 7077}));
  for (const char* text : {"", "localhost", ":7077", "a:", "a:x", "a:65536", "a:-1", "::1:7077"}) {
    EXPECT_FALSE(ParseHostPort(text).ok()) << text;
  }
}

TEST(AddressTest, KnowsWhatOnlyThisMachineReaches) {
  EXPECT_TRUE(IsLoopback({"127.0.0.2", 1}));
  EXPECT_TRUE(IsLoopback({"localhost", 1}));
  EXPECT_FALSE(IsLoopback({"0.0.0.0", 1}));
  EXPECT_FALSE(IsLoopback({"[::]", 1}));
}

TEST(RpcStatusTest, CarriesFieldViolations) {
  const std::vector<FieldViolation> violations = {{"global_batch", "must be positive"}};
  const grpc::Status status = ToGrpcStatus(absl::InvalidArgumentError("bad"), violations);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(FieldViolationsOf(status), violations);
  EXPECT_EQ(FromGrpcStatus(status).message(), "bad");
  EXPECT_TRUE(FieldViolationsOf(ToGrpcStatus(absl::NotFoundError("no"))).empty());
}

}  // namespace
}  // namespace meshwright
