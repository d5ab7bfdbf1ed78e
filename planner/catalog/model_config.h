// Reads a HuggingFace config.json as a model.
//
// Every key of the file is used, known to change nothing, set aside with a note, rejected by name,
// or listed as unknown: none is dropped silently. Absent keys have the defaults of their family.
// The file of a multimodal model is read as its language model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

struct ModelConfig {
  ModelSpec model;
  std::vector<std::string> unknown_keys;  // keys that the planner ignored
  // Keys, with their values, that are no part of the model. ModelSpec::set_aside has the keys that
  // are part of the model but change neither memory nor step time.
  std::vector<std::string> without_effect;
  std::vector<std::string> towers;   // keys of towers that `model` lacks
  std::vector<std::string> remarks;  // how the planned layers differ from the file's layers
  std::string unlisted_type;         // the model_type if the planner does not know it
  // Tokens of the longest sequence that the file names (max_position_embeddings).
  std::optional<int64_t> context_tokens;
};

// Returns the model of the config.json with the text `json`. A sliding window that is at least as
// long as `seq_len` is left out. The returned model has passed Validate().
absl::StatusOr<ModelConfig> ReadModelConfig(std::string_view name, std::string_view json,
                                            int64_t seq_len);

// Returns what a reader of figures about this model should know: which keys were ignored or set
// aside, and what is not planned.
std::vector<std::string> NotesOn(const ModelConfig& config);

}  // namespace meshwright::planner
