// What gRPC asks before a call is let in, also while the server goes.
#include "server/calls/call_checker.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "grpc/grpc_security_constants.h"
#include "gtest/gtest.h"

namespace meshwright::server {
namespace {

using Metadata = grpc::AuthMetadataProcessor::OutputMetadata;

constexpr char kMethod[] = "/meshwright.v1.Planner/Recommend";

struct NoProperty final : grpc::AuthPropertyIterator {};

// A connection by a certificate of the viewer ann.
class Certificate final : public grpc::AuthContext {
 public:
  bool IsPeerAuthenticated() const override { return true; }
  std::vector<grpc::string_ref> GetPeerIdentity() const override { return {}; }
  std::string GetPeerIdentityPropertyName() const override { return {}; }
  std::vector<grpc::string_ref> FindPropertyValues(const std::string& name) const override {
    if (name != GRPC_PEER_URI_PROPERTY_NAME) return {};
    if (asking != nullptr) asking->Notify();
    if (answer != nullptr) answer->WaitForNotification();
    answered = true;
    return {"meshwright://viewer/ann"};
  }
  grpc::AuthPropertyIterator begin() const override { return NoProperty(); }
  grpc::AuthPropertyIterator end() const override { return NoProperty(); }
  void AddProperty(const std::string& /*key*/, const grpc::string_ref& /*value*/) override {}
  bool SetPeerIdentityPropertyName(const std::string& /*name*/) override { return false; }

  // Set: whoever asks for the certificate's name says so and waits.
  absl::Notification* asking = nullptr;
  absl::Notification* answer = nullptr;
  mutable std::atomic<bool> answered = false;
};

class CallCheckerTest : public testing::Test {
 protected:
  grpc::Status Check() {
    Metadata consumed;
    Metadata response;
    return checker_.Process({{":path", kMethod}}, &connection_, &consumed, &response);
  }

  Access access_{true, [] { return absl::UnixEpoch(); }, nullptr};
  CallRates rates_{0.2, [] { return MonotonicTime{}; }, nullptr};
  CallChecker checker_{&access_, &rates_};
  Certificate connection_;
};

TEST_F(CallCheckerTest, AsksWhoCallsAndHowOften) {
  EXPECT_TRUE(Check().ok());
  EXPECT_EQ(Check().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(CallCheckerTest, LetsNobodyInOnceClosed) {
  checker_.Close();
  const grpc::Status status = Check();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(status.error_message(), "the server stops");
}

TEST_F(CallCheckerTest, ClosingWaitsForACallThatIsBeingChecked) {
  absl::Notification asking;
  absl::Notification answer;
  connection_.asking = &asking;
  connection_.answer = &answer;
  grpc::Status status;
  std::thread call([&] { status = Check(); });
  asking.WaitForNotification();
  std::thread answering([&] {
    absl::SleepFor(absl::Milliseconds(20));  // for a Close() that does not wait to return first
    answer.Notify();
  });
  checker_.Close();
  EXPECT_TRUE(connection_.answered);
  answering.join();
  call.join();
  EXPECT_TRUE(status.ok()) << status.error_message();
}

}  // namespace
}  // namespace meshwright::server
