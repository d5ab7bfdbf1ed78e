// What ranks of a group do together: collectives, and the two sides of a message.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace meshwright::planner {

enum class CollectiveKind : uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBroadcast,
  kSend,
  kReceive
};

// By CollectiveKind.
inline constexpr std::array<std::string_view, 6> kCollectiveKindNames = {
    "all_reduce", "all_gather", "reduce_scatter", "broadcast", "send", "receive"};

constexpr std::string_view CollectiveKindName(CollectiveKind kind) {
  return kCollectiveKindNames[static_cast<size_t>(kind)];
}

constexpr std::optional<CollectiveKind> ParseCollectiveKind(std::string_view name) {
  for (size_t i = 0; i < kCollectiveKindNames.size(); ++i) {
    if (kCollectiveKindNames[i] == name) return static_cast<CollectiveKind>(i);
  }
  return std::nullopt;
}

}  // namespace meshwright::planner
