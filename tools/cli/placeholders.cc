#include "tools/cli/placeholders.h"

#include <algorithm>

#include "planner/catalog/catalog.h"

namespace meshwright {

std::vector<std::string> PlaceholderNames(const std::string& placeholder,
                                          const std::vector<std::string>& words) {
  const auto typed = [&](const char* kind) {
    return placeholder == "PRESET" && std::find(words.begin(), words.end(), kind) != words.end();
  };
  if (placeholder == "MODEL" || typed("models")) return ModelNames();
  if (placeholder == "CLUSTER" || typed("clusters")) return ClusterNames();
  if (placeholder == "PROFILE" || typed("profiles")) return ProfileNames();
  return {};
}

}  // namespace meshwright
