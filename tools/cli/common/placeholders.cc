#include "tools/cli/common/placeholders.h"

#include <algorithm>

#include "planner/catalog/catalog.h"

namespace meshwright::cli {

std::vector<std::string> PlaceholderNames(const std::string& placeholder,
                                          const std::vector<std::string>& words) {
  const auto typed = [&](const char* kind) {
    return placeholder == "PRESET" && std::find(words.begin(), words.end(), kind) != words.end();
  };
  if (placeholder == "MODEL" || typed("models")) return planner::ModelNames();
  if (placeholder == "CLUSTER" || typed("clusters")) return planner::ClusterNames();
  if (placeholder == "PROFILE" || typed("profiles")) return planner::ProfileNames();
  return {};
}

}  // namespace meshwright::cli
