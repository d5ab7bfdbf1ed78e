#include "planner/memory/communicators.h"

#include "planner/schedule/placement.h"

namespace meshwright {

OpenCommunicators CommunicatorsOf(const Layout& layout, bool tied_embeddings,
                                  int32_t pipeline_rank) {
  OpenCommunicators open;
  for (const int64_t ranks :
       {layout.devices(), int64_t{layout.tp}, int64_t{layout.cp}, int64_t{layout.cp} * layout.dp}) {
    if (ranks > 1) ++open.collective;
  }
  const int32_t first = PlaceOfStage(layout, 0).rank;
  const int32_t last = PlaceOfStage(layout, StageCount(layout) - 1).rank;
  const bool at_an_end = pipeline_rank == first || pipeline_rank == last;
  if (tied_embeddings && first != last && at_an_end) ++open.collective;
  // With several chunks the model comes back to lower ranks.
  if (layout.pp > 1) open.point_to_point = layout.vpp > 1 ? 4 : 2;
  return open;
}

int64_t BufferBytes(const HardwareProfile& device, const OpenCommunicators& open) {
  return open.collective * device.communicator_bytes +
         open.point_to_point * device.point_to_point_communicator_bytes;
}

}  // namespace meshwright
