// LayerShapes lists the distinct shapes among a model's layers. Where kinds of layers alternate, a
// model has many layer groups of few shapes, and what depends on a layer's shape alone is computed
// once for each shape.
//
// Shapes are numbered from 0 in the order in which they first appear.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

// A layer group: `layers` consecutive layers of one shape.
struct ShapeRun {
  size_t shape = 0;
  int64_t layers = 0;

  friend bool operator==(const ShapeRun&, const ShapeRun&) = default;
};

class LayerShapes {
 public:
  explicit LayerShapes(const ModelSpec& model);

  // Returns the number of shapes.
  size_t size() const { return first_groups_.size(); }
  // Returns the model's layer groups, in order.
  const absl::InlinedVector<ShapeRun, 4>& runs() const { return runs_; }
  // Returns a layer group of the shape: `model` is the one that the shapes were made of.
  const LayerGroup& Of(const ModelSpec& model, size_t shape) const {
    return model.groups[first_groups_[shape]];
  }
  // Returns the number of layers of the model.
  int64_t layers() const { return layers_; }
  // Returns whether visit(group) is true for a layer group of any shape.
  template <typename Visit>
  bool Any(const ModelSpec& model, const Visit& visit) const {
    return std::any_of(first_groups_.begin(), first_groups_.end(),
                       [&](size_t group) { return visit(model.groups[group]); });
  }

  friend bool operator==(const LayerShapes& a, const LayerShapes& b) { return a.runs_ == b.runs_; }

 private:
  absl::InlinedVector<ShapeRun, 4> runs_;        // by layer group
  absl::InlinedVector<size_t, 4> first_groups_;  // by shape, the first layer group that has it
  int64_t layers_ = 0;
};

}  // namespace meshwright::planner
