#include "server/sweeps/group_writer.h"

#include <atomic>
#include <optional>

#include "absl/synchronization/notification.h"
#include "base/text/status_macros.h"
#include "db/sqlite_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/db/store_records.h"

namespace meshwright::server {
namespace {

using ::testing::ElementsAre;

class GroupWriterTest : public testing::Test {
 protected:
  GroupWriterTest()
      : store_(*db::SqliteSweepStore::Open(db::kInMemory)),
        sweep_(*store_->CreateSweep(db::SomeSweep("s"), db::SomeTrials(3))) {}

  GroupWriter::Hooks Hooks() {
    return {.events =
                [this](const std::vector<db::EventRecord>& events) {
                  for (const db::EventRecord& event : events) messages_.push_back(event.message);
                },
            .failed = [this](const absl::Status&) { ++failures_; },
            .back = [this] { ++returns_; }};
  }
  GroupWriter::Job Note(const std::string& message) {
    return {.store =
                [this, message](db::SweepAccess& access) {
                  return access
                      .AppendEvent({.sweep_id = sweep_.id,
                                    .kind = "sweep_waiting",
                                    .message = message,
                                    .time = db::At(0)})
                      .status();
                },
            .stored = [this](const absl::Status& status) { statuses_.push_back(status.code()); }};
  }

  std::unique_ptr<db::SqliteSweepStore> store_;
  db::SweepRecord sweep_;
  // Written on the writer's thread, read once it is flushed.
  std::vector<std::string> messages_;
  std::vector<absl::StatusCode> statuses_;
  std::atomic<int> failures_{0};
  std::atomic<int> returns_{0};
};

TEST_F(GroupWriterTest, StoresInOrderAndTellsOfIt) {
  GroupWriter writer(store_.get(), Hooks());
  for (const char* message : {"one", "two", "three"}) writer.Submit(Note(message));
  EXPECT_TRUE(writer.Flush(absl::Seconds(20)));
  EXPECT_THAT(messages_, ElementsAre("one", "two", "three"));
  EXPECT_THAT(statuses_,
              ElementsAre(absl::StatusCode::kOk, absl::StatusCode::kOk, absl::StatusCode::kOk));
}

TEST_F(GroupWriterTest, AJobThatFailsLeavesTheOthersAlone) {
  absl::Notification begin;
  GroupWriter writer(store_.get(), Hooks());
  // Keeps the writer busy until all of them make one group.
  writer.Submit({.store = {}, .stored = [&](const absl::Status&) { begin.WaitForNotification(); }});
  writer.Submit(Note("before"));
  writer.Submit({.store =
                     [this](db::SweepAccess& access) {
                       // Done and undone.
                       RETURN_IF_ERROR(access.UpdateTrial(db::Assign(sweep_.id, 1, 1)));
                       return access.UpdateTrial(db::Assign(sweep_.id, 1, 1));
                     },
                 .stored = [this](const absl::Status& s) { statuses_.push_back(s.code()); }});
  writer.Submit(Note("after"));
  begin.Notify();
  EXPECT_TRUE(writer.Flush(absl::Seconds(20)));
  EXPECT_THAT(statuses_, ElementsAre(absl::StatusCode::kOk, absl::StatusCode::kAborted,
                                     absl::StatusCode::kOk));
  EXPECT_THAT(messages_, ElementsAre("before", "after"));
  EXPECT_EQ(store_->GetTrial(sweep_.id, 1)->state, db::TrialState::kPending);
}

TEST_F(GroupWriterTest, TriesAgainUntilTheStoreIsBack) {
  GroupWriter writer(store_.get(), Hooks());
  ASSERT_TRUE(store_->LimitPages(1).ok());
  writer.Submit(Note(std::string(1 << 20, 'x')));
  writer.Submit(Note("small"));
  EXPECT_FALSE(writer.Flush(absl::Milliseconds(300)));
  EXPECT_EQ(failures_.load(), 1);
  ASSERT_TRUE(store_->LimitPages(1 << 20).ok());
  EXPECT_TRUE(writer.Flush(absl::Seconds(20)));
  EXPECT_EQ(returns_.load(), 1);
  EXPECT_EQ(messages_.size(), 2u);
  EXPECT_EQ(store_->ListEvents(sweep_.id, 0, 100)->size(), 3u);
}

TEST_F(GroupWriterTest, StopStoresWhatIsQueuedOrSaysThatItWasNot) {
  {
    GroupWriter writer(store_.get(), Hooks());
    for (int i = 0; i < 1000; ++i) writer.Submit(Note("queued"));
    writer.Stop();
  }
  EXPECT_EQ(messages_.size(), 1000u);
  ASSERT_TRUE(store_->LimitPages(1).ok());
  statuses_.clear();
  {
    GroupWriter writer(store_.get(), Hooks());
    writer.Submit(Note(std::string(1 << 20, 'x')));
    writer.Stop();
  }
  EXPECT_THAT(statuses_, ElementsAre(absl::StatusCode::kCancelled));
}

}  // namespace
}  // namespace meshwright::server
