// The operations of a communicator, for those who count and time them.
#pragma once

#include <cstdint>
#include <string_view>

#include "planner/base/enum_names.h"

namespace meshwright::trial {

enum class CommOperation : uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBroadcast,
  kSend,
  kReceive
};

inline constexpr EnumNames<CommOperation, 6> kCommOperationNames = {{
    {CommOperation::kAllReduce, "all_reduce"},
    {CommOperation::kAllGather, "all_gather"},
    {CommOperation::kReduceScatter, "reduce_scatter"},
    {CommOperation::kBroadcast, "broadcast"},
    {CommOperation::kSend, "send"},
    {CommOperation::kReceive, "receive"},
}};

inline std::string_view CommOperationName(CommOperation operation) {
  return NameOf(kCommOperationNames, operation);
}

}  // namespace meshwright::trial
