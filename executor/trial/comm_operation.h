// The operations of a communicator, for those who count and time them.
#pragma once

#include <string_view>

#include "planner/spec/collective_kind.h"

namespace meshwright::trial {

using CommOperation = planner::CollectiveKind;

inline constexpr const auto& kCommOperationNames = planner::kCollectiveKindNames;

constexpr std::string_view CommOperationName(CommOperation operation) {
  return planner::CollectiveKindName(operation);
}

}  // namespace meshwright::trial
