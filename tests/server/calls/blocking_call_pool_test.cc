#include "server/calls/blocking_call_pool.h"

#include <thread>

#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"

namespace meshwright::server {
namespace {

// A task: says when it runs, and ends when it is released.
class Wait {
 public:
  BlockingCallPool::Task Task() {
    return {.work =
                [this] {
                  running.Notify();
                  released.WaitForNotification();
                  return absl::NotFoundError("what it waited for");
                },
            .done =
                [this](const absl::Status& status) {
                  end = status;
                  ended.Notify();
                }};
  }

  absl::Notification running;
  absl::Notification released;
  absl::Notification ended;
  absl::Status end;
};

TEST(BlockingCallPool, AsManyRunAsThereAreThreadsAndTheNextTakesItsTurn) {
  Wait first;
  Wait second;
  Wait third;
  BlockingCallPool threads(2);
  for (Wait* const wait : {&first, &second, &third}) threads.Submit(wait->Task());
  first.running.WaitForNotification();
  second.running.WaitForNotification();
  EXPECT_FALSE(third.running.HasBeenNotified());
  second.released.Notify();
  third.running.WaitForNotification();
  EXPECT_TRUE(absl::IsNotFound(second.end)) << second.end;
  first.released.Notify();
  third.released.Notify();
  first.ended.WaitForNotification();
  third.ended.WaitForNotification();
}

TEST(BlockingCallPool, AStopEndsWhatRunsAndTellsTheRest) {
  Wait runs;
  Wait waits;
  Wait late;
  BlockingCallPool threads(1);
  threads.Submit(runs.Task());
  runs.running.WaitForNotification();
  threads.Submit(waits.Task());
  std::thread stop([&] { threads.Stop(); });
  waits.ended.WaitForNotification();
  EXPECT_TRUE(absl::IsUnavailable(waits.end)) << waits.end;
  EXPECT_FALSE(waits.running.HasBeenNotified());
  EXPECT_FALSE(runs.ended.HasBeenNotified());
  runs.released.Notify();
  stop.join();
  EXPECT_TRUE(absl::IsNotFound(runs.end)) << runs.end;
  threads.Submit(late.Task());
  EXPECT_TRUE(absl::IsUnavailable(late.end)) << late.end;
}

}  // namespace
}  // namespace meshwright::server
