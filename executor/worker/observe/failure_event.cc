#include "executor/worker/observe/failure_event.h"

#include "executor/worker/comm/communicator.h"

namespace meshwright::worker {

trial::RankEvent FailureEvent(const std::exception& error,
                              const std::optional<MemoryShortage>& shortage,
                              int32_t pipeline_rank) {
  if (shortage.has_value()) {
    return trial::OomEvent{.pipeline_rank = pipeline_rank,
                           .requested_bytes = shortage->requested_bytes,
                           .held_bytes = shortage->held_bytes,
                           .limit_bytes = shortage->limit_bytes};
  }
  const bool communication = dynamic_cast<const CommunicationError*>(&error) != nullptr;
  return trial::ErrorEvent{
      .kind = communication ? trial::ErrorKind::kCommunication : trial::ErrorKind::kInternal,
      .message = error.what()};
}

}  // namespace meshwright::worker
