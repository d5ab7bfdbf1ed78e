// LayerShapes lists the distinct shapes among a model's layers. If kinds of layers alternate, a
// model has many layer groups but few shapes. Quantities that depend only on a layer's shape are
// therefore computed once for each shape. A shape includes how a run trains the layer, because
// the backward of frozen layers is shorter.
//
// Shapes are numbered from 0 in the order in which they first appear.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/trained_parts.h"

namespace meshwright::planner {

// `layers` consecutive layers of one shape: a layer group, or those layers of a group that the run
// trains in the same way.
struct ShapeRun {
  size_t shape = 0;
  int64_t layers = 0;

  friend bool operator==(const ShapeRun&, const ShapeRun&) = default;
};

class LayerShapes {
 public:
  explicit LayerShapes(const ModelSpec& model, const TrainedParts& trained = {});

  // Returns the number of shapes.
  size_t size() const { return shapes_.size(); }
  // Returns the model's layers in order, as runs of equal shape.
  const absl::InlinedVector<ShapeRun, 4>& runs() const { return runs_; }
  // Returns a layer group of the shape. REQUIRES: the shapes were made from `model`.
  const LayerGroup& Of(const ModelSpec& model, size_t shape) const {
    return model.groups[shapes_[shape].first_group];
  }
  // Returns how the run trains the layers of the shape.
  UnitTraining TrainingOf(size_t shape) const { return shapes_[shape].training; }
  // Returns the number of layers of the model.
  int64_t layers() const { return layers_; }
  // Returns whether visit(group) is true for a layer group of any shape.
  template <typename Visit>
  bool Any(const ModelSpec& model, const Visit& visit) const {
    return std::any_of(shapes_.begin(), shapes_.end(),
                       [&](const Shape& shape) { return visit(model.groups[shape.first_group]); });
  }

  friend bool operator==(const LayerShapes& a, const LayerShapes& b) { return a.runs_ == b.runs_; }

 private:
  struct Shape {
    size_t first_group = 0;  // the first layer group of this shape
    UnitTraining training = UnitTraining::kTrained;
  };

  void Add(const ModelSpec& model, const Shape& shape, int64_t layers);

  absl::InlinedVector<ShapeRun, 4> runs_;
  absl::InlinedVector<Shape, 4> shapes_;
  int64_t layers_ = 0;
};

}  // namespace meshwright::planner
