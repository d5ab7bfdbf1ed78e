#include "planner/spec/layer_shapes.h"

namespace meshwright::planner {

LayerShapes::LayerShapes(const ModelSpec& model) {
  for (size_t group = 0; group < model.groups.size(); ++group) {
    const LayerGroup& layers = model.groups[group];
    const auto known = std::find_if(first_groups_.begin(), first_groups_.end(), [&](size_t first) {
      return model.groups[first].SameShape(layers);
    });
    runs_.push_back(
        {.shape = static_cast<size_t>(known - first_groups_.begin()), .layers = layers.count});
    if (known == first_groups_.end()) first_groups_.push_back(group);
    layers_ += layers.count;
  }
}

}  // namespace meshwright::planner
