// Reads a HuggingFace config.json as a model.
//
// Every key of the file is used, known to change nothing, rejected by name, or listed as unknown:
// none is dropped silently. Absent keys have the defaults of their family.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

struct ModelConfig {
  ModelSpec model;
  std::vector<std::string> unknown_keys;  // keys that the planner ignored
};

// Returns the model of the config.json with the text `json`. A sliding window that is at least as
// long as `seq_len` is left out. The returned model has passed Validate().
absl::StatusOr<ModelConfig> ReadModelConfig(std::string_view name, std::string_view json,
                                            int64_t seq_len);

// Returns what a reader of figures about this model should know: which keys were ignored.
std::vector<std::string> NotesOn(const ModelConfig& config);

}  // namespace meshwright::planner
