// What a model's name or a row's notes say where no column of a measurement does: gated or plain
// FFN, tied embeddings, vocabulary, experts, training of adapters only.
//
// The knowledge is a data file (planner/data/families.json); what the notes of a row say goes
// before it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/measurement/measurement.h"

namespace meshwright::planner {

struct ModelFamily {
  std::string match;  // stands somewhere in the lower-case name
  std::optional<bool> gated;
  std::optional<bool> tied;
  std::optional<int64_t> vocab;  // of its tokenizer
};

struct ModelFamilies {
  std::vector<std::string> experts;   // lower-case parts of names of models with experts
  std::vector<std::string> adapters;  // lower-case words in notes on runs that train adapters only
  std::vector<ModelFamily> families;  // the first one that matches and knows decides
  // By a model preset's name, other models of its shape.
  std::map<std::string, std::vector<std::string>> same_shape;
};

absl::StatusOr<ModelFamilies> ModelFamiliesFromJson(std::string_view json);
// The file that is compiled in.
absl::StatusOr<ModelFamilies> LoadModelFamilies();

// By ep, by the notes ("MoE", "experts") or by the name.
bool HasExperts(const ModelFamilies& families, const Measurement& row);
// Whether the run trained a small part of the weights: by a word in the notes.
bool TrainsAdapters(const ModelFamilies& families, const Measurement& row);
// nullopt where neither the notes nor the name tell.
std::optional<bool> HasGatedFfn(const ModelFamilies& families, const Measurement& row);
std::optional<bool> HasTiedEmbeddings(const ModelFamilies& families, const Measurement& row);
std::optional<int64_t> VocabOf(const ModelFamilies& families, const Measurement& row);

}  // namespace meshwright::planner
