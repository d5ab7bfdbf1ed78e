// Stretches of a search, on however many threads.
#include "db/stretch_search.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace meshwright::db {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Found = absl::StatusOr<std::vector<MeasurementPlace>>;

// Stretches of ten ids each, from 1 on.
std::vector<MeasurementQuery> TensOf(int64_t count) {
  std::vector<MeasurementQuery> stretches;
  for (int64_t i = 0; i < count; ++i) {
    MeasurementQuery& stretch = stretches.emplace_back();
    stretch.after = MeasurementPlace{.id = 10 * i};
    stretch.until = MeasurementPlace{.id = 10 * (i + 1)};
  }
  return stretches;
}

// Ids of the stretch that can be divided by `divisor`.
Found MultiplesIn(const MeasurementQuery& stretch, int64_t divisor) {
  std::vector<MeasurementPlace> places;
  for (int64_t id = stretch.after->id + 1; id <= stretch.until->id; ++id) {
    if (id % divisor == 0) places.push_back({.id = id});
  }
  return places;
}

std::vector<int64_t> IdsOf(const Found& found) {
  std::vector<int64_t> ids;
  for (const MeasurementPlace& place : *found) ids.push_back(place.id);
  return ids;
}

TEST(StretchSearchTest, FindsTheSameInTheSameOrderWithAnyThreads) {
  for (const int32_t threads : {1, 2, 5, 40}) {
    StretchSearch search(threads);
    const auto find = [](const MeasurementQuery& stretch) { return MultiplesIn(stretch, 35); };
    EXPECT_THAT(IdsOf(search.Run(TensOf(16), 100, find)), ElementsAre(35, 70, 105, 140));
    EXPECT_THAT(IdsOf(search.Run(TensOf(16), 3, find)), ElementsAre(35, 70, 105));
  }
}

TEST(StretchSearchTest, FindsNothingInNoStretches) {
  StretchSearch search(4);
  const auto find = [](const MeasurementQuery& stretch) { return MultiplesIn(stretch, 1); };
  EXPECT_THAT(IdsOf(search.Run({}, 100, find)), IsEmpty());
}

TEST(StretchSearchTest, BeginsNoStretchBehindAFullAnswer) {
  std::atomic<int> looks = 0;
  const auto find = [&](const MeasurementQuery& stretch) {
    ++looks;
    return MultiplesIn(stretch, 5);
  };
  // The first stretch has both: nobody helps.
  EXPECT_THAT(IdsOf(StretchSearch(8).Run(TensOf(16), 2, find)), ElementsAre(5, 10));
  EXPECT_EQ(looks.exchange(0), 1);
  EXPECT_THAT(IdsOf(StretchSearch(1).Run(TensOf(16), 5, find)), ElementsAre(5, 10, 15, 20, 25));
  EXPECT_EQ(looks, 3);
}

TEST(StretchSearchTest, AnErrorIsTheAnswerAndEndsTheSearch) {
  for (const int32_t threads : {1, 4}) {
    StretchSearch search(threads);
    std::atomic<int> looks = 0;
    const auto fails = [&](const MeasurementQuery& stretch) -> Found {
      ++looks;
      if (stretch.after->id >= 20) return absl::UnavailableError("disk I/O error");
      return MultiplesIn(stretch, 1000);
    };
    const Found found = search.Run(TensOf(100), 5, fails);
    EXPECT_TRUE(absl::IsUnavailable(found.status())) << found.status();
    EXPECT_THAT(found.status().message(), HasSubstr("disk I/O error"));
    // Each thread may have begun one before it heard of the error.
    EXPECT_LE(looks, 3 + threads);
  }
}

// One search waits inside two stretches until another has ended: that finds no helper, and works.
TEST(StretchSearchTest, WhereOthersHaveAllHelpersTheCallerIsAlone) {
  StretchSearch search(2);
  absl::Notification both_busy;
  absl::Notification other_ended;
  std::atomic<int> busy = 0;
  std::thread first([&] {
    const auto waits = [&](const MeasurementQuery& stretch) {
      if (stretch.after->id > 0) {
        if (++busy == 2) both_busy.Notify();
        other_ended.WaitForNotification();
      }
      return MultiplesIn(stretch, 7);
    };
    EXPECT_THAT(IdsOf(search.Run(TensOf(4), 100, waits)), ElementsAre(7, 14, 21, 28, 35));
  });
  both_busy.WaitForNotification();
  const std::thread::id caller = std::this_thread::get_id();
  const auto alone = [&](const MeasurementQuery& stretch) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    return MultiplesIn(stretch, 9);
  };
  EXPECT_THAT(IdsOf(search.Run(TensOf(4), 100, alone)), ElementsAre(9, 18, 27, 36));
  other_ended.Notify();
  first.join();
}

// Both threads of the search are inside a stretch at once, in each of several searches.
TEST(StretchSearchTest, HelpersComeBack) {
  StretchSearch search(2);
  for (int i = 0; i < 3; ++i) {
    std::atomic<int> inside = 0;
    absl::Notification both;
    const auto meets = [&](const MeasurementQuery& stretch) {
      if (stretch.after->id == 0) return MultiplesIn(stretch, 7);
      if (++inside == 2) both.Notify();
      both.WaitForNotification();
      return MultiplesIn(stretch, 7);
    };
    EXPECT_THAT(IdsOf(search.Run(TensOf(3), 100, meets)), ElementsAre(7, 14, 21, 28));
  }
}

}  // namespace
}  // namespace meshwright::db
