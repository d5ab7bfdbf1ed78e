// Reads the adapter_config.json that PEFT writes beside an adapter's weights.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace meshwright::planner {

struct AdapterConfig {
  std::string base;                  // the adapted model: a Hub id, or a folder
  std::string kind;                  // peft_type, such as "LORA"
  int64_t rank = 0;                  // rank of a LoRA's matrices; 0 if the file has none
  std::vector<std::string> targets;  // adapted modules; empty if the file lists none
  bool has_magnitudes = false;       // `use_dora`
};

// Returns whether the text is a JSON object with keys that only an adapter_config.json has.
bool IsAdapter(std::string_view text);

// Returns InvalidArgument, with the key and its value, if the file names no base model.
absl::StatusOr<AdapterConfig> ReadAdapterConfig(std::string_view text);

// Returns what the adapter trains, in the syntax of ParseTrainedParts(), such as
// "lora:16:q_proj,v_proj". A fused module stands for all products that it computes. Returns "" if
// the planner can't plan the adapter, because it is not a LoRA or adapts modules that are not
// products of a block.
std::string TrainTextOf(const AdapterConfig& adapter);

// Says in one sentence that the base model is planned, with the adapter or with all weights
// trained.
std::string NoteOn(const AdapterConfig& adapter);

}  // namespace meshwright::planner
