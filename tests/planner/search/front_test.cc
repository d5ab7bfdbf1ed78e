#include "planner/search/front.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace meshwright::planner {
namespace {

using testing::ElementsAre;

Estimate Scored(double mfu, int64_t bytes, double tokens_per_joule = 0.0) {
  Estimate estimate;
  estimate.mfu = mfu;
  estimate.memory.weights_bytes = bytes;
  estimate.tokens_per_joule = tokens_per_joule;
  return estimate;
}

Layout Numbered(int32_t number) {
  Layout layout;
  layout.dp = number;
  return layout;
}

std::vector<int32_t> Numbers(Front& front) {
  std::vector<int32_t> numbers;
  const std::vector<RankedLayout> layouts = front.Take();
  numbers.reserve(layouts.size());
  for (const RankedLayout& ranked : layouts) numbers.push_back(ranked.layout.dp);
  return numbers;
}

TEST(Front, KeepsWhatNothingBeatsInBoth) {
  Front front({Merit::kSpeed, Merit::kMemory});
  front.Offer({Numbered(1), Scored(0.4, 40)}, 1);
  front.Offer({Numbered(2), Scored(0.3, 50)}, 2);  // slower and larger
  front.Offer({Numbered(3), Scored(0.5, 60)}, 3);
  front.Offer({Numbered(4), Scored(0.2, 10)}, 4);
  front.Offer({Numbered(5), Scored(0.4, 30)}, 5);  // beats the first
  EXPECT_THAT(Numbers(front), ElementsAre(3, 5, 4));
}

TEST(Front, KeepsTheFirstOfEquals) {
  Front front({Merit::kSpeed, Merit::kMemory});
  front.Offer({Numbered(1), Scored(0.4, 40)}, 1);
  front.Offer({Numbered(2), Scored(0.4, 40)}, 2);
  EXPECT_THAT(Numbers(front), ElementsAre(1));
}

TEST(Front, IsAskedWithBounds) {
  Front front({Merit::kSpeed, Merit::kMemory});
  front.Offer({Numbered(1), Scored(0.4, 40)}, 1);
  EXPECT_TRUE(front.Takes(ScoresOf(Scored(0.41, 100))));
  EXPECT_TRUE(front.Takes(ScoresOf(Scored(0.1, 39))));
  EXPECT_FALSE(front.Takes(ScoresOf(Scored(0.4, 40))));
  EXPECT_FALSE(front.Takes(ScoresOf(Scored(0.39, 40))));
  EXPECT_FALSE(Front({}).Takes(ScoresOf(Scored(1.0, 0))));
}

TEST(Front, OfThreeMeritsKeepsWhatIsBestInOne) {
  Front front({Merit::kSpeed, Merit::kMemory, Merit::kEnergy});
  front.Offer({Numbered(1), Scored(0.5, 50, 1.0)}, 1);
  front.Offer({Numbered(2), Scored(0.4, 60, 2.0)}, 2);
  front.Offer({Numbered(3), Scored(0.3, 40, 0.5)}, 3);
  front.Offer({Numbered(4), Scored(0.3, 55, 0.9)}, 4);  // the first is better in all
  EXPECT_THAT(Numbers(front), ElementsAre(1, 2, 3));
}

// However the offers are divided among selections, what comes out is that of a plain comparison.
TEST(Front, DoesNotDependOnWhoSawWhat) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const std::vector<Merit> merits =
        round % 2 == 0 ? std::vector<Merit>{Merit::kMemory, Merit::kSpeed}
                       : std::vector<Merit>{Merit::kSpeed, Merit::kEnergy, Merit::kMemory};
    std::vector<Estimate> estimates;
    for (int i = 0; i < 60; ++i) {
      const auto draw = [&random] { return static_cast<int>(random() % 8); };
      estimates.push_back(Scored(draw() / 8.0, draw(), draw()));
    }
    const auto covers = [&](const Estimate& a, const Estimate& b) {
      return std::all_of(merits.begin(), merits.end(),
                         [&](Merit merit) { return ScoresOf(a)[merit] >= ScoresOf(b)[merit]; });
    };
    std::vector<int32_t> expected;
    for (int i = 0; i < 60; ++i) {
      bool beaten = false;
      for (int j = 0; j < 60; ++j) {
        const Estimate& other = estimates[static_cast<size_t>(j)];
        const Estimate& own = estimates[static_cast<size_t>(i)];
        beaten = beaten || (j != i && covers(other, own) && (j < i || !covers(own, other)));
      }
      if (!beaten) expected.push_back(i);
    }
    Front first(merits);
    Front second(merits);
    for (int i = 0; i < 60; ++i) {
      (random() % 2 == 0 ? first : second)
          .Offer({Numbered(i), estimates[static_cast<size_t>(i)]}, static_cast<PointOrder>(i));
    }
    first.Merge(second);
    EXPECT_THAT(Numbers(first), testing::UnorderedElementsAreArray(expected)) << round;
  }
}

}  // namespace
}  // namespace meshwright::planner
