#include "server/calls/search_pool.h"

#include <atomic>
#include <string>

#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace meshwright::server {
namespace {

using ::testing::HasSubstr;

// One search: says when it runs, ends when it is released, and keeps how it ended.
class Search {
 public:
  SearchTask Task() {
    return {.cancelled = [this] { return gone.load(); },
            .work =
                [this](int32_t threads) {
                  share = threads;
                  running.Notify();
                  released.WaitForNotification();
                  return absl::OkStatus();
                },
            .done =
                [this](const absl::Status& status) {
                  end = status;
                  ended.Notify();
                }};
  }

  std::atomic<bool> gone{false};
  absl::Notification running;
  absl::Notification released;
  absl::Notification ended;
  absl::Status end;
  int32_t share = 0;
};

TEST(SearchPool, RunsAsManyAsItHasThreadsAndRefusesBeyondWhatMayWait) {
  Search first;
  Search waits;
  Search refused;
  SearchPool pool(/*searches=*/1, /*most_waiting=*/1, /*cores=*/1);
  pool.Submit(first.Task());
  first.running.WaitForNotification();
  pool.Submit(waits.Task());
  pool.Submit(refused.Task());
  ASSERT_TRUE(refused.ended.HasBeenNotified());
  EXPECT_TRUE(absl::IsResourceExhausted(refused.end)) << refused.end;
  EXPECT_THAT(std::string(refused.end.message()), HasSubstr("runs 1 searches, and 1 more wait"));
  EXPECT_FALSE(waits.running.HasBeenNotified());
  first.released.Notify();
  waits.released.Notify();
  waits.ended.WaitForNotification();
  EXPECT_TRUE(first.end.ok());
  EXPECT_TRUE(waits.end.ok());
}

TEST(SearchPool, SharesTheCoresAmongWhatRuns) {
  Search first;
  Search second;
  SearchPool pool(/*searches=*/2, /*most_waiting=*/1, /*cores=*/5);
  pool.Submit(first.Task());
  first.running.WaitForNotification();
  pool.Submit(second.Task());
  second.running.WaitForNotification();
  EXPECT_EQ(first.share, 5);
  EXPECT_EQ(second.share, 2);
  first.released.Notify();
  second.released.Notify();
}

TEST(SearchPool, ATaskWhoseClientLeftMakesRoom) {
  Search first;
  Search left;
  Search next;
  SearchPool pool(1, 1, 1);
  pool.Submit(first.Task());
  first.running.WaitForNotification();
  pool.Submit(left.Task());
  left.gone.store(true);
  pool.Submit(next.Task());
  ASSERT_TRUE(left.ended.HasBeenNotified());
  EXPECT_TRUE(absl::IsCancelled(left.end));
  EXPECT_FALSE(left.running.HasBeenNotified());
  first.released.Notify();
  next.released.Notify();
  next.ended.WaitForNotification();
  EXPECT_TRUE(next.end.ok());
}

TEST(SearchPool, StopDropsWhatWaitsAndWaitsForWhatRuns) {
  Search first;
  Search waits;
  Search late;
  SearchPool pool(1, 1, 1);
  pool.Submit(first.Task());
  first.running.WaitForNotification();
  pool.Submit(waits.Task());
  first.released.Notify();
  waits.released.Notify();
  pool.Stop();
  EXPECT_TRUE(first.ended.HasBeenNotified());
  EXPECT_TRUE(waits.ended.HasBeenNotified());
  pool.Submit(late.Task());
  EXPECT_TRUE(absl::IsUnavailable(late.end));
}

}  // namespace
}  // namespace meshwright::server
