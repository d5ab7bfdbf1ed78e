// CollectiveKind lists the communication operations of a group: collectives, and the two sides of a
// message.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/text/enum_names.h"

namespace meshwright::planner {

enum class CollectiveKind : uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBroadcast,
  kSend,
  kReceive,
  kAllToAll
};

inline constexpr EnumNames<CollectiveKind, 7> kCollectiveKindNames = {{
    {CollectiveKind::kAllReduce, "all_reduce"},
    {CollectiveKind::kAllGather, "all_gather"},
    {CollectiveKind::kReduceScatter, "reduce_scatter"},
    {CollectiveKind::kBroadcast, "broadcast"},
    {CollectiveKind::kSend, "send"},
    {CollectiveKind::kReceive, "receive"},
    {CollectiveKind::kAllToAll, "all_to_all"},
}};

constexpr std::string_view CollectiveKindName(CollectiveKind kind) {
  return meshwright::NameOf(kCollectiveKindNames, kind);
}

}  // namespace meshwright::planner
