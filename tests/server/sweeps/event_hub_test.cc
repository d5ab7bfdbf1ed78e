#include "server/sweeps/event_hub.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace meshwright::server {
namespace {

db::EventRecord Event(int64_t sequence, int64_t sweep_id, int32_t trial = 0) {
  return {.sequence = sequence,
          .sweep_id = sweep_id,
          .trial = trial,
          .kind = "trial_ended",
          .time = absl::UnixEpoch()};
}

db::EventRecord ProgressOf(int64_t sweep_id, int32_t trial, const std::string& message) {
  return {.sweep_id = sweep_id,
          .trial = trial,
          .kind = "trial_progress",
          .message = message,
          .time = absl::UnixEpoch()};
}

TEST(EventHubTest, HandsASweepsEventsToItsWatchersAlone) {
  EventHub hub;
  int calls = 0;
  const auto one = hub.Subscribe(1, [&] { ++calls; });
  const auto two = hub.Subscribe(2, [] {});
  hub.Publish({Event(1, 1), Event(2, 2), Event(3, 1)});
  EXPECT_EQ(calls, 1);
  const EventHub::Batch batch = one->Take();
  ASSERT_EQ(batch.events.size(), 2u);
  EXPECT_EQ(batch.events[0]->sequence, 1);
  EXPECT_EQ(batch.events[1]->sequence, 3);
  EXPECT_TRUE(one->Take().events.empty());
  EXPECT_EQ(two->Take().events.size(), 1u);
}

TEST(EventHubTest, KeepsTheNewestProgressForWhoComesLater) {
  EventHub hub;
  hub.PublishProgress(ProgressOf(1, 4, "step 1"));
  hub.PublishProgress(ProgressOf(1, 4, "step 2"));
  hub.PublishProgress(ProgressOf(1, 5, "step 9"));
  const auto watcher = hub.Subscribe(1, [] {});
  const EventHub::Batch batch = watcher->Take();
  ASSERT_EQ(batch.progress.size(), 2u);
  EXPECT_EQ(batch.progress[0]->message, "step 2");
  // Of a trial that has ended there is none.
  hub.Publish({Event(1, 1, 4)});
  EXPECT_EQ(hub.Subscribe(1, [] {})->Take().progress.size(), 1u);
}

TEST(EventHubTest, ProgressIsForgottenOnceSomethingElseHappened) {
  EventHub hub;
  const auto watcher = hub.Subscribe(1, [] {});
  hub.PublishProgress(ProgressOf(1, 4, "step 1"));
  hub.Publish({Event(1, 1, 4)});
  const EventHub::Batch batch = watcher->Take();
  EXPECT_EQ(batch.events.size(), 1u);
  EXPECT_TRUE(batch.progress.empty());
}

TEST(EventHubTest, SaysWhenAWatcherWasTooSlow) {
  EventHub hub;
  const auto watcher = hub.Subscribe(1, [] {});
  std::vector<db::EventRecord> events;
  for (int64_t i = 1; i <= 10'000; ++i) events.push_back(Event(i, 1));
  hub.Publish(std::move(events));
  const EventHub::Batch batch = watcher->Take();
  EXPECT_TRUE(batch.missed);
  EXPECT_TRUE(batch.events.empty());
  // From then on it hears of everything again.
  hub.Publish({Event(10'001, 1)});
  const EventHub::Batch next = watcher->Take();
  EXPECT_FALSE(next.missed);
  EXPECT_EQ(next.events.size(), 1u);
}

TEST(EventHubTest, SaysThatTheSweepIsGone) {
  EventHub hub;
  const auto watcher = hub.Subscribe(1, [] {});
  hub.PublishDeleted(1);
  EXPECT_TRUE(watcher->Take().deleted);
}

}  // namespace
}  // namespace meshwright::server
