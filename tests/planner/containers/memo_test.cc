#include "planner/containers/memo.h"

#include <gtest/gtest.h>

namespace meshwright::planner {
namespace {

TEST(Memo, WorksOutWhatItHasNotMetLately) {
  Memo<int, int, 2> squares;
  int worked_out = 0;
  const auto square = [&](int key) {
    return squares.Get(key, [&] {
      ++worked_out;
      return key * key;
    });
  };
  EXPECT_EQ(square(0), 0);
  EXPECT_EQ(square(3), 9);
  EXPECT_EQ(square(0), 0);
  EXPECT_EQ(worked_out, 2);
  // Takes the place of the first.
  EXPECT_EQ(square(4), 16);
  EXPECT_EQ(square(3), 9);
  EXPECT_EQ(worked_out, 3);
  EXPECT_EQ(square(0), 0);
  EXPECT_EQ(worked_out, 4);
}

}  // namespace
}  // namespace meshwright::planner
