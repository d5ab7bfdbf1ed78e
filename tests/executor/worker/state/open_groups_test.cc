// The groups that ranks connect to are those that the planner counts.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "executor/worker/comm/coordinates.h"
#include "executor/worker/comm/cpu_device.h"
#include "executor/worker/comm/fake_communicator.h"
#include "executor/worker/state/rank_context.h"
#include "planner/worker_memory/communicators.h"
#include "tests/executor/test_models.h"

namespace meshwright::worker {
namespace {

planner::OpenCommunicators OpenedBy(const planner::Layout& layout, bool tied_embeddings,
                                    int32_t rank) {
  RankContext context;
  context.model = trial::TinyModel();
  context.model.tied_embeddings = tied_embeddings;
  context.layout = layout;
  context.rank = rank;
  context.coordinates = CoordinatesOf(layout, rank);
  context.device = std::make_unique<CpuDevice>();
  planner::OpenCommunicators open;
  ConnectGroupsWith(
      context,
      [&](const GroupSpec& group) {
        const bool messages = group.traffic == Traffic::kMessages;
        ++(messages ? open.point_to_point : open.collective);
        return MakeFakeCommunicator(group, rank);
      },
      std::chrono::seconds(1));
  return open;
}

TEST(OpenGroupsTest, AreThoseThatThePlannerCounts) {
  for (const char* text :
       {"tp1.pp1.dp1", "tp2.pp1.dp1", "tp1.cp2.pp1.dp1", "tp1.pp1.dp2", "tp1.pp2.dp1",
        "tp2.cp2.pp2.dp2", "tp1.pp3.dp1", "tp1.pp2.dp1.vpp2.sched=interleaved",
        "tp1.pp4.dp1.vpp2.sched=breadth_first", "tp1.pp2.dp2.vpp2.sched=zb_v",
        "tp1.pp3.dp1.vpp2.sched=zb_v", "tp1.pp1.dp1.vpp2.sched=breadth_first",
        "tp2.cp2.pp2.dp4.zero2.hs=4", "tp1.pp1.dp8.zero1.hs=2", "tp1.pp1.dp4.zero3.hs=4"}) {
    const planner::Layout layout = planner::ParseLayout(text).value();
    for (const bool tied : {false, true}) {
      for (int32_t rank = 0; rank < layout.devices(); ++rank) {
        EXPECT_EQ(OpenedBy(layout, tied, rank),
                  planner::CommunicatorsOf(layout, {.tied_embeddings = tied},
                                           CoordinatesOf(layout, rank).pp))
            << text << " rank " << rank << (tied ? " tied" : "");
      }
    }
  }
}

}  // namespace
}  // namespace meshwright::worker
