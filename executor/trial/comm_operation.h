// The operations of a communicator, for those who count and time them.
#pragma once

#include <optional>
#include <string_view>

#include "planner/spec/collective_kind.h"

namespace meshwright::trial {

using CommOperation = planner::CollectiveKind;

constexpr std::string_view CommOperationName(CommOperation operation) {
  return planner::CollectiveKindName(operation);
}

constexpr std::optional<CommOperation> ParseCommOperation(std::string_view name) {
  return planner::ParseCollectiveKind(name);
}

}  // namespace meshwright::trial
