// Says how many tokens of a sequence stand for images in an answer about a multimodal model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// Returns notes for readers: how many tokens stand for images, and what is assumed of the images. A
// model without a tower gets no notes.
std::vector<std::string> MediaNotes(const ModelSpec& model, const TrainingSpec& training);

}  // namespace meshwright::planner
