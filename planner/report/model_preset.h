// ModelPreset is what `meshwright list models` shows of a preset.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planner/codec/fields.h"
#include "planner/report/parameter_counts.h"

namespace meshwright::planner {

struct ModelPreset {
  std::string name;
  std::vector<std::string> other_names;  // names that stand for the same file
  std::string kind;                      // "dense", "experts" or "hybrid"
  ParameterCounts counts;
  std::optional<int64_t> context_tokens;  // tokens of the longest sequence that the file names

  friend bool operator==(const ModelPreset&, const ModelPreset&) = default;
};

template <ConstOr<ModelPreset> Preset, typename Visitor>
void VisitFields(Preset& preset, Visitor& visit) {
  visit("name", preset.name);
  visit("other_names", preset.other_names);
  visit("kind", preset.kind);
  VisitFields(preset.counts, visit);
  visit("context_tokens", preset.context_tokens);
}

// Returns every model preset, in the order of ModelNames().
std::vector<ModelPreset> ModelPresets();

}  // namespace meshwright::planner
