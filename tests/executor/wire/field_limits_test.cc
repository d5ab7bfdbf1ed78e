#include "executor/wire/field_limits.h"

#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "meshwright/v1/agents.pb.h"
#include "meshwright/v1/sweeps.pb.h"

namespace meshwright::wire {
namespace {

TEST(CheckLimits, TakesWhatIsAsLongAsAllowed) {
  v1::CreateSweepRequest request;
  request.set_request_id(std::string(256, 'r'));
  request.mutable_plan()->mutable_cluster()->set_cluster_json(std::string(kMaxSpecBytes, ' '));
  EXPECT_TRUE(CheckLimits(request).ok());
  EXPECT_TRUE(CheckLimits(v1::ListSweepsRequest()).ok());
}

TEST(CheckLimits, NamesTheFieldTheLengthAndTheLimit) {
  v1::CreateSweepRequest request;
  request.mutable_plan()->mutable_framework()->set_profile_json(
      std::string(kMaxSpecBytes + 1, ' '));
  const absl::Status status = CheckLimits(request);
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_EQ(FieldOf(status), "plan.framework.profile_json");
  EXPECT_EQ(status.message(),
            "plan.framework.profile_json = (4194305 bytes): must be at most 4194304 bytes");
}

TEST(CheckLimits, RefusesNamesThatATerminalWouldObey) {
  v1::AgentMessage message;
  message.mutable_register_()->set_host("node\x1b[2J");
  EXPECT_EQ(CheckLimits(message).message(),
            "register.host = node\\x1b[2J: must have no control characters");
  message.mutable_register_()->set_host("nœud-1");
  EXPECT_TRUE(CheckLimits(message).ok());
}

TEST(CheckLimits, LooksIntoListsAndTheirMessages) {
  v1::AgentMessage message;
  message.mutable_heartbeat()->add_held()->set_trial("sweeps/a/trials/1");
  message.mutable_heartbeat()->add_held()->set_trial(std::string(257, 't'));
  EXPECT_EQ(FieldOf(CheckLimits(message)), "heartbeat.held.trial");
  message.mutable_register_()->add_capabilities(std::string(257, 'c'));
  EXPECT_EQ(FieldOf(CheckLimits(message)), "register.capabilities");
  v1::Measurement measurement;
  for (int i = 0; i <= kMaxListEntries; ++i) measurement.add_losses(1.0);
  EXPECT_EQ(FieldOf(CheckLimits(measurement)), "losses");
}

TEST(CheckLimits, BoundsAllThatAMessageHasByItsMethod) {
  const std::string unknown(kMaxRequestBytes, 'u');
  v1::GetSweepRequest request;
  request.GetReflection()->MutableUnknownFields(&request)->AddLengthDelimited(1000, unknown);
  EXPECT_THAT(
      std::string(CheckLimits(request).message()),
      testing::MatchesRegex("request = \\(83886[0-9]* bytes\\): must be at most 8388608 bytes"));
  v1::AgentMessage message;
  message.GetReflection()->MutableUnknownFields(&message)->AddLengthDelimited(1000, unknown);
  EXPECT_TRUE(CheckLimits(message).ok());
}

TEST(CheckLimits, AMeasurementHasRoomForItsWorkersWords) {
  v1::AgentMessage message;
  message.mutable_finished()->mutable_measurement()->set_message(std::string(64 << 10, 'm'));
  message.mutable_finished()->mutable_measurement()->set_host("node1");
  EXPECT_TRUE(CheckLimits(message).ok());
}

}  // namespace
}  // namespace meshwright::wire
