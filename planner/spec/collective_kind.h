// What a group of ranks does together in one call.
#pragma once

#include <cstdint>

namespace meshwright::planner {

enum class CollectiveKind : uint8_t { kAllReduce, kAllGather, kReduceScatter, kSend };

}  // namespace meshwright::planner
