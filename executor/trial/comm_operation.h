// The operations of a communicator, for those who count and time them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace meshwright::trial {

enum class CommOperation : uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBroadcast,
  kSend,
  kReceive
};

inline constexpr std::array<std::string_view, 6> kCommOperationNames = {
    "all_reduce", "all_gather", "reduce_scatter", "broadcast", "send", "receive"};

constexpr std::string_view CommOperationName(CommOperation operation) {
  return kCommOperationNames[static_cast<size_t>(operation)];
}

constexpr std::optional<CommOperation> ParseCommOperation(std::string_view name) {
  for (size_t i = 0; i < kCommOperationNames.size(); ++i) {
    if (kCommOperationNames[i] == name) return static_cast<CommOperation>(i);
  }
  return std::nullopt;
}

}  // namespace meshwright::trial
