#include "base/system/work_queue.h"

#include <string>
#include <vector>

#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace meshwright {
namespace {

using Queue = WorkQueue<int>;

// What a queue of one thread ran, and a gate that holds its first task up.
class WorkQueueTest : public ::testing::Test {
 protected:
  Queue::Run Run() {
    return [this](int task, size_t running) {
      began_.Notify();
      released_.WaitForNotification();
      ran_.push_back(task);
      running_.push_back(running);
      return std::function<void()>();
    };
  }
  Queue::Offered Offer(Queue& queue, int task, size_t most = 100) {
    return queue.Offer(task, most).offered;
  }

  struct Once {
    absl::Notification at;
    void Notify() {
      if (!at.HasBeenNotified()) at.Notify();
    }
    void WaitForNotification() { at.WaitForNotification(); }
  };

  Once began_;
  Once released_;
  std::vector<int> ran_;
  std::vector<size_t> running_;
};

TEST_F(WorkQueueTest, TasksRunInTheOrderInWhichTheyWereOffered) {
  Queue queue(1, Run());
  for (int task = 1; task <= 4; ++task) EXPECT_EQ(Offer(queue, task), Queue::Offered::kTaken);
  released_.Notify();
  queue.Flush();
  EXPECT_THAT(ran_, ::testing::ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(running_, ::testing::Each(1U));
}

TEST_F(WorkQueueTest, AFullQueueLeavesTheTaskWithItsCallerAndTellsTheCounts) {
  Queue queue(1, Run());
  Offer(queue, 1);
  began_.WaitForNotification();
  Offer(queue, 2);
  int third = 3;
  const Queue::Answer answer = queue.Offer(third, 2);
  EXPECT_EQ(answer.offered, Queue::Offered::kFull);
  EXPECT_EQ(answer.running, 1U);
  EXPECT_EQ(answer.waiting, 1U);
  EXPECT_EQ(third, 3);
  released_.Notify();
  queue.Flush();
  EXPECT_THAT(ran_, ::testing::ElementsAre(1, 2));
}

TEST_F(WorkQueueTest, TasksThatAreTakenBackDoNotRun) {
  Queue queue(1, Run());
  Offer(queue, 1);
  began_.WaitForNotification();
  for (int task = 2; task <= 5; ++task) Offer(queue, task);
  EXPECT_THAT(queue.TakeIf([](int task) { return task % 2 == 0; }), ::testing::ElementsAre(2, 4));
  released_.Notify();
  queue.Flush();
  EXPECT_THAT(ran_, ::testing::ElementsAre(1, 3, 5));
}

TEST_F(WorkQueueTest, AClosedQueueHandsBackWhatWaitsAndTakesNoMore) {
  Queue queue(1, Run());
  Offer(queue, 1);
  began_.WaitForNotification();
  Offer(queue, 2);
  EXPECT_THAT(queue.Close(), ::testing::ElementsAre(2));
  EXPECT_EQ(Offer(queue, 3), Queue::Offered::kClosed);
  released_.Notify();
  queue.Join();
  EXPECT_THAT(ran_, ::testing::ElementsAre(1));
}

TEST(WorkQueue, WhatATaskLeavesToCallIsCalledOnceTheTaskNoLongerCounts) {
  absl::Notification called;
  size_t running_then = 1;
  WorkQueue<int>* self = nullptr;
  WorkQueue<int> queue(1, [&](int, size_t) -> std::function<void()> {
    return [&] {
      int next = 0;
      running_then = self->Offer(next, 0).running;
      called.Notify();
    };
  });
  self = &queue;
  int task = 1;
  queue.Offer(task);
  called.WaitForNotification();
  EXPECT_EQ(running_then, 0U);
}

}  // namespace
}  // namespace meshwright
