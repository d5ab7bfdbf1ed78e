// The event by which a rank tells of the error that ends it (executor/trial/rank_events.h).
#pragma once

#include <cstdint>
#include <exception>
#include <optional>

#include "executor/trial/rank_events.h"
#include "executor/worker/comm/memory_shortage.h"

namespace meshwright::worker {

// `shortage` is what the device says of `error`. Memory that a communicator lacks is a shortage
// like any other, not the loss of a peer.
trial::RankEvent FailureEvent(const std::exception& error,
                              const std::optional<MemoryShortage>& shortage, int32_t pipeline_rank);

}  // namespace meshwright::worker
