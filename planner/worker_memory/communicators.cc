#include "planner/worker_memory/communicators.h"

#include "planner/schedule/open_groups.h"

namespace meshwright::planner {

OpenCommunicators CommunicatorsOf(const Layout& layout, const GroupNeeds& needs,
                                  int32_t pipeline_rank) {
  OpenCommunicators open;
  ForEachOpenGroup(layout, needs, pipeline_rank, [&](const OpenGroup& group) {
    ++(group.traffic == Traffic::kMessages ? open.point_to_point : open.collective);
  });
  return open;
}

int64_t BufferBytes(const HardwareProfile& device, const OpenCommunicators& open) {
  return open.collective * device.communicator_bytes +
         open.point_to_point * device.point_to_point_communicator_bytes;
}

}  // namespace meshwright::planner
