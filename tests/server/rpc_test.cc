// Resource names, addresses and statuses on the wire.
#include "gtest/gtest.h"
#include "proto/meshwright/v1/resource_names.h"
#include "proto/rpc_status.h"

namespace meshwright::server {
namespace {

TEST(ResourceNamesTest, RoundTrip) {
  EXPECT_EQ(FormatTrialName("tiny-1", 3), "sweeps/tiny-1/trials/3");
  EXPECT_EQ(*ParseTrialName("sweeps/tiny-1/trials/3"), (TrialName{"tiny-1", 3}));
  EXPECT_EQ(*ParseSweepName(FormatSweepName("a.b_c-1")), "a.b_c-1");
}

TEST(ResourceNamesTest, ReadsNamesThatNoNewSweepMayHave) {
  for (const char* sweep : {"a b", "org/model-1", ".x", "a/trials/2", "-"}) {
    EXPECT_EQ(*ParseSweepName(FormatSweepName(sweep)), sweep);
    EXPECT_EQ(*ParseTrialName(FormatTrialName(sweep, 3)), (TrialName{sweep, 3}));
  }
}

TEST(ResourceNamesTest, AnyModelsNameMakesAName) {
  EXPECT_EQ(SweepIdStem("llama-3.1-8b"), "llama-3.1-8b");
  EXPECT_EQ(SweepIdStem("my model (v2)"), "my-model-v2");
  EXPECT_EQ(SweepIdStem("org/model"), "org-model");
  EXPECT_EQ(SweepIdStem("-.-x"), "x");
  EXPECT_EQ(SweepIdStem("g\xC3\xBCltig"), "g-ltig");
  for (const std::string& model :
       {std::string(), std::string("///"), std::string("\xFF\n\0", 3), std::string("--.."),
        std::string(200, 'm'), std::string(42, 'm') + " x", std::string("_")}) {
    for (const char* number : {"-1", "-9223372036854775807"}) {
      const absl::Status status = CheckSweepId(SweepIdStem(model) + number);
      EXPECT_TRUE(status.ok()) << status;
    }
  }
}

// A command line takes it for a flag.
TEST(ResourceNamesTest, ANewNameDoesNotBeginWithADash) {
  EXPECT_FALSE(CheckSweepId("-x").ok());
  EXPECT_FALSE(CheckSweepId("--watch").ok());
  EXPECT_TRUE(CheckSweepId("x-").ok());
  EXPECT_TRUE(CheckSweepId("_x").ok());
}

TEST(ResourceNamesTest, RefusesOtherText) {
  for (const char* name : {"", "sweeps/", "sweep/a", "trials/1"}) {
    EXPECT_FALSE(ParseSweepName(name).ok()) << name;
  }
  for (const char* name : {"sweeps/a", "sweeps/a/trials/", "sweeps/a/trials/0", "sweeps/a/trials/x",
                           "sweeps/a/trials/99999999999"}) {
    EXPECT_FALSE(ParseTrialName(name).ok()) << name;
  }
}

TEST(ResourceNamesTest, AgentsAreNamedByTheRuleOfSweeps) {
  EXPECT_TRUE(CheckAgentName("node-7.cluster_a").ok());
  for (const std::string& name : {std::string(), std::string("a b"), std::string("a\nb"),
                                  std::string("../a"), std::string(64, 'a')}) {
    const absl::Status status = CheckAgentName(name);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << name;
    EXPECT_NE(status.message().find("can't name an agent"), std::string::npos) << status;
  }
}

TEST(RpcStatusTest, CarriesFieldViolations) {
  const std::vector<FieldViolation> violations = {{"global_batch", "must be positive"}};
  const grpc::Status status = ToGrpcStatus(absl::InvalidArgumentError("bad"), violations);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(FieldViolationsOf(status), violations);
  EXPECT_EQ(FromGrpcStatus(status).message(), "bad");
  EXPECT_TRUE(FieldViolationsOf(ToGrpcStatus(absl::NotFoundError("no"))).empty());
}

TEST(RpcStatusTest, SaysWhatIsTooLong) {
  const auto read = [](const std::string& said) {
    return std::string(
        FromGrpcStatus(grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, said)).message());
  };
  EXPECT_EQ(read("Received message larger than max (40000000 vs. 33554432)"),
            "a message has 40000000 bytes, and its receiver takes at most 33554432: ask for "
            "less at once");
  for (const char* other : {"try again later", "Received message larger than max (many)"}) {
    EXPECT_EQ(read(other), other);
  }
}

}  // namespace
}  // namespace meshwright::server
