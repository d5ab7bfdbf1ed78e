// The event by which a rank tells of the error that ends it (executor/worker/event_writer.h).
#pragma once

#include <cstdint>
#include <exception>
#include <optional>

#include "executor/worker/comm/memory_shortage.h"
#include "nlohmann/json.hpp"

namespace meshwright::worker {

// `shortage` is what the device says of `error`. Memory that a communicator lacks is a shortage
// like any other, not the loss of a peer.
nlohmann::json FailureEvent(const std::exception& error,
                            const std::optional<MemoryShortage>& shortage, int32_t pipeline_rank);

}  // namespace meshwright::worker
