#include "planner/spec/layer_shapes.h"

namespace meshwright::planner {

// Layers of one group train alike between the ends of the frozen layers.
LayerShapes::LayerShapes(const ModelSpec& model, const TrainedParts& trained) {
  for (size_t group = 0; group < model.groups.size(); ++group) {
    const int64_t end = layers_ + model.groups[group].count;
    do {
      int64_t until = end;
      for (const int64_t border : {trained.first_frozen, trained.end_frozen}) {
        if (border > layers_) until = std::min(until, border);
      }
      Add(model, {group, trained.OfLayer(layers_, !model.towers.empty())}, until - layers_);
    } while (layers_ < end);
  }
}

void LayerShapes::Add(const ModelSpec& model, const Shape& shape, int64_t layers) {
  const auto known = std::find_if(shapes_.begin(), shapes_.end(), [&](const Shape& other) {
    return other.training == shape.training &&
           model.groups[other.first_group].SameShape(model.groups[shape.first_group]);
  });
  runs_.push_back({.shape = static_cast<size_t>(known - shapes_.begin()), .layers = layers});
  if (known == shapes_.end()) shapes_.push_back(shape);
  layers_ += layers;
}

}  // namespace meshwright::planner
