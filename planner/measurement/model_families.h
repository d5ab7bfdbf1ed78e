// Finds properties of a measured run that no column gives: whether the FFN is gated, whether
// embeddings are tied, the vocabulary, whether there are experts, and whether only adapters are
// trained. They are found in the row's notes or in the model's name.
//
// A data file lists what names imply (planner/data/families.json). The notes of a row take
// precedence over its model's name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/measurement/measurement.h"

namespace meshwright::planner {

struct ModelFamily {
  std::string match;  // a part of the lower-case names of its models
  std::optional<bool> gated;
  std::optional<bool> tied;
  std::optional<int64_t> vocab;  // vocabulary size of its tokenizer
};

struct ModelFamilies {
  std::vector<std::string> experts;   // lower-case parts of names of models with experts
  std::vector<std::string> adapters;  // lower-case words in notes on runs that train only adapters
  std::vector<ModelFamily> families;  // the first matching family that has a property decides it
};

absl::StatusOr<ModelFamilies> ModelFamiliesFromJson(std::string_view json);
// Returns the families of the file that is compiled in.
absl::StatusOr<ModelFamilies> LoadModelFamilies();

// Returns whether the model has experts: by ep, by the notes ("MoE", "experts") or by its name.
bool HasExperts(const ModelFamilies& families, const Measurement& row);
// Returns whether the run trained only a small part of the weights, by a word in the notes.
bool TrainsAdapters(const ModelFamilies& families, const Measurement& row);
// Return what the notes say, or else what the model's name implies; nullopt if neither tells.
std::optional<bool> HasGatedFfn(const ModelFamilies& families, const Measurement& row);
std::optional<bool> HasTiedEmbeddings(const ModelFamilies& families, const Measurement& row);
std::optional<int64_t> VocabOf(const ModelFamilies& families, const Measurement& row);

}  // namespace meshwright::planner
