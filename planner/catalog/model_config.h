// A HuggingFace config.json as a model.
//
// Every key of the file is used, known to change nothing, refused by name, or listed as unknown:
// none is dropped without a word. Keys that are absent have the defaults of their family.
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
  std::vector<std::string> unknown_keys;  // that the planner took no notice of
};

// `seq_len` decides whether a sliding window matters. The model passed Validate().
absl::StatusOr<ModelConfig> ReadModelConfig(std::string_view name, std::string_view json,
                                            int64_t seq_len);

// What a reader of figures about that model should know: the keys that were not looked at.
std::vector<std::string> NotesOn(const ModelConfig& config);

}  // namespace meshwright::planner
