// Writes a flag for each layer as a Python list, which Megatron-LM evaluates. The flag says whether
// the layer has a property, such as experts.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "planner/spec/model_spec.h"

namespace meshwright::planner {

// For each layer, as Megatron-LM counts layers: true if the layer has the property.
using LayerFlags = std::vector<bool>;

// Returns the number of layers of Megatron-LM that make one layer of the group. In a hybrid, the
// mixer of a layer is one layer of Megatron-LM, and its FFN is another. In other models every layer
// has attention and an FFN, which together are one layer of Megatron-LM.
inline int64_t MegatronLayersOf(const LayerGroup& group, bool is_hybrid) {
  return is_hybrid ? int64_t{group.mixes()} + int64_t{group.ffn.exists()} : 1;
}

template <typename HasIt>
LayerFlags FlagsOf(const ModelSpec& model, bool is_hybrid, HasIt has_it) {
  LayerFlags flags;
  for (const LayerGroup& group : model.groups) {
    const int64_t layers = group.count * MegatronLayersOf(group, is_hybrid);
    flags.insert(flags.end(), static_cast<size_t>(layers), has_it(group));
  }
  return flags;
}

inline bool IsTrueForAll(const LayerFlags& flags) {
  return flags == LayerFlags(flags.size(), true);
}

// Returns text such as ([0]*3+[1]*58), or ([1]*3+[0]*1)*12.
std::string PythonList(const LayerFlags& flags);

}  // namespace meshwright::planner
