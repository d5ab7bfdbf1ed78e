// Small() and With() make small config.json files, for tests of reading them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "planner/catalog/model_config.h"

namespace meshwright::planner {

// Returns the keys that all these files have.
inline nlohmann::json Small(const char* model_type, int64_t layers) {
  return {{"model_type", model_type}, {"hidden_size", 64},        {"num_hidden_layers", layers},
          {"intermediate_size", 96},  {"num_attention_heads", 4}, {"num_key_value_heads", 2},
          {"vocab_size", 512}};
}

inline nlohmann::json With(nlohmann::json config, const nlohmann::json& keys) {
  config.update(keys);
  return config;
}

inline ModelSpec ReadModel(const nlohmann::json& config) {
  const auto read = ReadModelConfig("test", config.dump(), 4096);
  EXPECT_TRUE(read.ok()) << read.status();
  if (!read.ok()) return {};
  EXPECT_EQ(read->unknown_keys, std::vector<std::string>());
  return read->model;
}

inline std::string RefusalOf(const nlohmann::json& config) {
  return std::string(ReadModelConfig("test", config.dump(), 4096).status().message());
}

// Returns a text per group of equal layers. It has a letter for each part of a layer (A: attention,
// R: recurrence, F: FFN, E: experts) and then the number of layers.
inline std::vector<std::string> ShapesOf(const ModelSpec& model) {
  std::vector<std::string> shapes;
  for (const LayerGroup& group : model.groups) {
    std::string shape;
    if (group.attention.exists()) shape += 'A';
    if (group.recurrence.exists()) shape += 'R';
    if (group.ffn.exists()) shape += group.ffn.has_experts() ? 'E' : 'F';
    shapes.push_back(shape + std::to_string(group.count));
  }
  return shapes;
}

}  // namespace meshwright::planner
