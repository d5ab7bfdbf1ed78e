#include "planner/measurement/noted_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::planner {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NotedValues, AreThoseOfWholeWords) {
  EXPECT_THAT(NotedValues("etp=2;loss=chunked:8; etp=4 and more", "etp"), ElementsAre("2", "4"));
  EXPECT_THAT(NotedValues("loss=chunked:8", "loss"), ElementsAre("chunked:8"));
  EXPECT_THAT(NotedValues("aux_loss=1;torch.loss=2;loss 3", "loss"), IsEmpty());
  EXPECT_THAT(NotedValues("", "loss"), IsEmpty());
}

TEST(NotedValues, HaveCommasAndEqualsSigns) {
  EXPECT_THAT(NotedValues("states=master=none,grad=bf16;x", "states"),
              ElementsAre("master=none,grad=bf16"));
}

}  // namespace
}  // namespace meshwright::planner
