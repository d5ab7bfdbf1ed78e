#include "planner/memory/communicators.h"

#include "planner/schedule/placement.h"

namespace meshwright::planner {
namespace {

// Of planner/schedule/messages.h: activations and gradients, to and from each rank that has a
// neighbouring stage.
int64_t LaneCount(const Layout& layout, int32_t pipeline_rank) {
  const int64_t neighbours = (pipeline_rank > 0 ? 1 : 0) + (pipeline_rank + 1 < layout.pp ? 1 : 0);
  // The second half of a V comes back the same way; other chunks close a ring of all ranks.
  if (layout.schedule == ScheduleKind::kZbV) return 4 * neighbours;
  return layout.vpp > 1 && layout.pp > 1 ? 4 : 2 * neighbours;
}

}  // namespace

OpenCommunicators CommunicatorsOf(const Layout& layout, bool tied_embeddings,
                                  int32_t pipeline_rank) {
  OpenCommunicators open;
  for (const int64_t ranks :
       {layout.devices(), int64_t{layout.tp}, int64_t{layout.cp} * layout.dp}) {
    if (ranks > 1) ++open.collective;
  }
  const int32_t first = PlaceOfStage(layout, 0).rank;
  const int32_t last = PlaceOfStage(layout, StageCount(layout) - 1).rank;
  const bool at_an_end = pipeline_rank == first || pipeline_rank == last;
  if (tied_embeddings && first != last && at_an_end) ++open.collective;
  open.point_to_point = (layout.cp > 1 ? 1 : 0) + LaneCount(layout, pipeline_rank);
  return open;
}

int64_t BufferBytes(const HardwareProfile& device, const OpenCommunicators& open) {
  return open.collective * device.communicator_bytes +
         open.point_to_point * device.point_to_point_communicator_bytes;
}

}  // namespace meshwright::planner
