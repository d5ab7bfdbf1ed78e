// Writes the notes on images for an answer about a multimodal model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// Returns notes for readers: the number of tokens of a sequence that stand for images, and what is
// assumed of the images. Returns no notes for a model without a tower.
std::vector<std::string> MediaNotes(const ModelSpec& model, const TrainingSpec& training);

}  // namespace meshwright::planner
