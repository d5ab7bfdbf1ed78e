// The transactions that a first server keeps for its standbys, and how far these are behind.
#include "server/standby/change_log.h"

#include <thread>

#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "server/standby/authority.h"

namespace meshwright::server {
namespace {

// A source whose changes the test makes.
class FakeSource final : public db::ChangeSource {
 public:
  absl::Status BeginCapture(ChangeSink sink) override {
    sink_ = std::move(sink);
    return can_begin ? absl::OkStatus() : absl::UnavailableError("no");
  }
  absl::StatusOr<bool> WasCaptured() override { return was_captured; }
  void EndCapture() override { sink_ = {}; }
  void CaptureOthers() override { ++looks; }
  absl::StatusOr<UniqueFd> Snapshot(const std::function<void()>& at_moment) override {
    at_moment();
    return UniqueFd();
  }
  void Change(absl::StatusOr<std::string> changes) { sink_(std::move(changes)); }
  bool captures() const { return sink_ != nullptr; }

  bool can_begin = true;
  bool was_captured = false;
  int looks = 0;

 private:
  ChangeSink sink_;
};

class ChangeLogTest : public testing::Test {
 protected:
  db::CopyPlace Snapshot() {
    const auto snapshot = log_.TakeSnapshot();
    EXPECT_TRUE(snapshot.ok()) << snapshot.status();
    return snapshot->place;
  }
  std::string NextAfter(const db::CopyPlace& place) {
    const auto next = log_.Next(place, absl::ZeroDuration());
    if (!next.ok()) return absl::StatusCodeToString(next.status().code());
    return *next == nullptr ? "none" : (*next)->changes;
  }
  StandbyLag Lag() { return log_.Lags().front(); }

  FakeSource source_;
  absl::Duration now_ = absl::ZeroDuration();
  ChangeLog log_{&source_, {.most_bytes = 10, .clock = [this] { return MonotonicTime{now_}; }}};
};

TEST_F(ChangeLogTest, CapturesNothingBeforeTheFirstSnapshot) {
  EXPECT_FALSE(log_.Has({}));
  EXPECT_FALSE(source_.captures());
  EXPECT_FALSE(log_.HasStandbys());
  log_.LookForOthers();
  EXPECT_EQ(source_.looks, 0);
}

TEST_F(ChangeLogTest, GivesTransactionsInOrderAfterASnapshot) {
  db::CopyPlace place = Snapshot();
  EXPECT_EQ(place.number, 0);
  EXPECT_EQ(NextAfter(place), "none");
  source_.Change("one");
  source_.Change("two");
  EXPECT_EQ(NextAfter(place), "one");
  place.number = 1;
  EXPECT_EQ(NextAfter(place), "two");
  EXPECT_EQ(Snapshot().number, 2);
  EXPECT_EQ(Snapshot().log_id, place.log_id);
}

TEST_F(ChangeLogTest, WhoIsTooFarBehindNeedsASnapshot) {
  db::CopyPlace place = Snapshot();
  source_.Change("12345");
  source_.Change("12345");
  EXPECT_TRUE(log_.Has(place));
  source_.Change("x");
  EXPECT_FALSE(log_.Has(place));
  EXPECT_EQ(NextAfter(place), "OUT_OF_RANGE");
  place.number = 1;
  EXPECT_EQ(NextAfter(place), "12345");
  EXPECT_FALSE(log_.Has({.log_id = "another", .number = 3}));
  EXPECT_FALSE(log_.Has({.log_id = place.log_id, .number = 4}));
}

TEST_F(ChangeLogTest, ChangesThatCantBeRecordedEndTheLogAndASnapshotBeginsAnother) {
  const db::CopyPlace place = Snapshot();
  source_.Change("one");
  source_.Change(absl::UnavailableError("out of memory"));
  EXPECT_FALSE(log_.Has(place));
  const db::CopyPlace again = Snapshot();
  EXPECT_NE(again.log_id, place.log_id);
  EXPECT_EQ(again.number, 0);
  source_.can_begin = false;
  source_.Change(absl::UnavailableError("out of memory"));
  EXPECT_TRUE(absl::IsUnavailable(log_.TakeSnapshot().status()));
}

TEST_F(ChangeLogTest, SaysHowFarAStandbyIsBehind) {
  db::CopyPlace place = Snapshot();
  log_.Connect("b");
  EXPECT_FALSE(Lag().complete);
  log_.Acknowledge("b", place);
  EXPECT_TRUE(Lag().complete);
  now_ = absl::Seconds(5);
  EXPECT_EQ(Lag().time, absl::ZeroDuration());
  source_.Change("one");
  now_ = absl::Seconds(7);
  source_.Change("four");
  now_ = absl::Seconds(8);
  EXPECT_EQ(Lag().transactions, 2);
  EXPECT_EQ(Lag().bytes, 7);
  EXPECT_EQ(Lag().time, absl::Seconds(3));
  place.number = 1;
  log_.Acknowledge("b", place);
  EXPECT_EQ(Lag().time, absl::Seconds(1));
  log_.Disconnect("b");
  EXPECT_FALSE(Lag().connected);
  EXPECT_EQ(Lag().transactions, 1);
}

TEST_F(ChangeLogTest, OnceNobodyFollowsAFullLogEnds) {
  const db::CopyPlace place = Snapshot();
  log_.Connect("b");
  source_.Change("123456");
  log_.LookForOthers();
  EXPECT_EQ(source_.looks, 1);
  EXPECT_TRUE(log_.Has(place));
  log_.Disconnect("b");
  log_.LookForOthers();
  EXPECT_FALSE(source_.captures());
  EXPECT_FALSE(log_.Has(place));
}

TEST_F(ChangeLogTest, WaitsForAStandbyThatIsUpToDateAndForNoOther) {
  db::CopyPlace place = Snapshot();
  log_.Connect("b");
  source_.Change("1");
  EXPECT_TRUE(log_.AwaitStandbys(absl::ZeroDuration())) << "it has no copy yet";
  log_.Acknowledge("b", place);
  EXPECT_FALSE(log_.AwaitStandbys(absl::Milliseconds(1)));
  place.number = 1;
  std::thread standby([&] {
    absl::SleepFor(absl::Milliseconds(20));
    log_.Acknowledge("b", place);
  });
  EXPECT_TRUE(log_.AwaitStandbys(absl::Seconds(20)));
  standby.join();
  source_.Change("2");
  log_.Disconnect("b");
  EXPECT_TRUE(log_.AwaitStandbys(absl::ZeroDuration()));
}

TEST_F(ChangeLogTest, AStoppedLogEndsAllWaits) {
  const db::CopyPlace place = Snapshot();
  log_.Stop();
  EXPECT_EQ(NextAfter(place), "CANCELLED");
}

TEST(ChangeLogOfAnEarlierProcessTest, RemembersThatTheStoreHadStandbys) {
  FakeSource source;
  source.was_captured = true;
  EXPECT_TRUE(ChangeLog(&source).HasStandbys());
}

TEST(ChangeLogWithoutASourceTest, CantBeFollowed) {
  ChangeLog log(nullptr);
  EXPECT_TRUE(absl::IsUnimplemented(log.TakeSnapshot().status()));
}

TEST(AuthorityTest, EpochsHaveNumbersOfAttemptsOfTheirOwn) {
  EXPECT_EQ(FirstAttemptOf(1), 1);
  EXPECT_EQ(FirstAttemptOf(2), 101);
  EXPECT_EQ(FirstAttemptOf(int64_t{1} << 40), 1'000'000'000);
}

TEST(AuthorityTest, IsLostOnceToALaterEpochOfTheSameStore) {
  int lost = 0;
  Authority authority({"aa", 2}, [&](const absl::Status&) { ++lost; });
  EXPECT_TRUE(authority.Hear({"bb", 9}, "h:1").ok());
  EXPECT_TRUE(authority.Hear({"aa", 2}, "h:1").ok());
  EXPECT_TRUE(authority.Hear({"aa", 1}, "h:1").ok());
  EXPECT_EQ(lost, 0);
  const absl::Status status = authority.Hear({"aa", 3}, "h:1");
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_NE(status.message().find("--standby-of h:1"), std::string::npos) << status;
  EXPECT_EQ(authority.Hear({"aa", 1}, ""), status);
  EXPECT_EQ(authority.Check(), status);
  EXPECT_EQ(lost, 1);
}

TEST(AuthorityTest, StaysWhereSomebodyOnlySpeaksOfALaterEpoch) {
  const Authority authority({"aa", 2}, [](const absl::Status&) { FAIL() << "it is not lost"; });
  EXPECT_TRUE(absl::IsFailedPrecondition(authority.CheckAgainst({"aa", 3}, "h:1")));
  EXPECT_TRUE(authority.CheckAgainst({"bb", 9}, "h:1").ok());
  EXPECT_TRUE(authority.Check().ok());
}

}  // namespace
}  // namespace meshwright::server
