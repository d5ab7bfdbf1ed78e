#include "executor/host/cores.h"

#include <thread>

#include "executor/host/host.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace meshwright::host {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(CoresTest, PartsHaveAsManyCoresEachAndNoneTogether) {
  const std::vector<Core> cores = {{0, 5}, {1, 6}, {2, 7}, {3, 8}, {4, 9}};
  EXPECT_THAT(HardwareThreadsOf(cores, 0, 1, 2), ElementsAre(0, 5, 1, 6));
  EXPECT_THAT(HardwareThreadsOf(cores, 1, 1, 2), ElementsAre(2, 7, 3, 8));
  EXPECT_THAT(HardwareThreadsOf(cores, 0, 2, 2), SizeIs(8));
  EXPECT_THAT(HardwareThreadsOf(cores, 3, 2, 5), ElementsAre(3, 8, 4, 9));
}

// What a worker takes for the host's cores, and with them its threads, is what it was bound to.
TEST(CoresTest, AThreadThatIsBoundSeesItsCoresAlone) {
  const std::vector<Core> all = Cores();
  const auto parts = static_cast<int32_t>(all.size());
  std::thread([&] {
    ASSERT_TRUE(BindThisThread(HardwareThreadsOf(all, parts - 1, 1, parts)).ok());
    EXPECT_THAT(Cores(), ElementsAre(all.back()));
    EXPECT_EQ(PhysicalCores(), 1);
  }).join();
  EXPECT_EQ(Cores(), all);
}

TEST(CoresTest, AThreadCantBeBoundToNothing) {
  std::thread([] { EXPECT_FALSE(BindThisThread({}).ok()); }).join();
}

}  // namespace
}  // namespace meshwright::host
