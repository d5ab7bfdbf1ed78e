// FailureEvent() builds the event that reports the error which ends a rank
// (executor/trial/rank_events.h).
#pragma once

#include <cstdint>
#include <exception>
#include <optional>

#include "executor/trial/rank_events.h"
#include "executor/worker/comm/memory_shortage.h"

namespace meshwright::worker {

// Returns the event of `error`. `shortage` is the result of Device::AsMemoryShortage(). A
// communicator that lacks memory is reported as out of memory, not as a lost peer.
trial::RankEvent FailureEvent(const std::exception& error,
                              const std::optional<MemoryShortage>& shortage, int32_t pipeline_rank);

}  // namespace meshwright::worker
