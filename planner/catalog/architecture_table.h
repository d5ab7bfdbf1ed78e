// ArchitectureTable holds planner/data/architectures.json: facts about families of models and about
// the keys of their config.json.
//
// A family's entry has what follows only from the family's name: the defaults of absent keys, and
// what the family's class in transformers adds. Keys that mean the same in every family are
// interpreted by `names`, `structure` and `activations`.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "nlohmann/json.hpp"
#include "planner/catalog/key_rule.h"

namespace meshwright::planner {

// A feature that the planner lacks.
struct MissingPart {
  std::string text;
  std::vector<KeyRule> rules;  // keys that ask for it
};

struct ArchitectureTable {
  std::map<std::string, nlohmann::json> planned;  // entries by model_type, templates merged in
  nlohmann::json unknown;                         // the entry of a family that is not listed
  // Names of a key in other families' files, by the name that Llama's files have for it.
  std::map<std::string, std::vector<std::string>> names;
  // Default values of absent keys in the classes of transformers 5.24, by model_type.
  nlohmann::json class_defaults;
  // Nested objects whose keys move to the top level of the config, and the names that the keys get
  // there.
  nlohmann::json lifted;
  nlohmann::json layer_kinds;  // contents of a layer, by its name in a list of layers
  nlohmann::json structure;    // switches of every family
  nlohmann::json activations;  // kinds of FFNs by their activation, with a gate and without
  std::map<std::string, MissingPart> missing;
  std::set<std::string> planned_parts;  // ids of `missing` that are planned for some family
  std::map<std::string, std::vector<std::string>> families;  // model_type -> ids of missing parts
  std::vector<std::string> language_models;  // objects that hold the language model of a wrapper
  std::vector<std::string> towers;           // keys that hold a tower, or name one
  std::vector<std::string> ignored_endings;  // endings of keys that change nothing
  // Keys that no getter of JsonFields reads, but whose meaning the planner knows: in every family
  // (general_keys), or only in listed families (family_keys).
  std::set<std::string, std::less<>> general_keys;
  std::set<std::string, std::less<>> family_keys;
};

const ArchitectureTable& Architectures();

// Returns the entry of a planned family; null if no entry has the name.
const nlohmann::json* PlannedEntry(const std::string& model_type);

}  // namespace meshwright::planner
