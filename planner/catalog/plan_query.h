// A question to the planner as its user put it, with presets by name, and its resolution into
// specs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/search/search.h"

namespace meshwright::planner {

// A preset by name, or the text of a JSON file under a name of the caller's choice.
struct SpecSource {
  std::string name;
  std::string json;  // empty: `name` is a preset

  friend bool operator==(const SpecSource&, const SpecSource&) = default;
};

struct PlanQuery {
  SpecSource model;
  SpecSource cluster;
  SpecSource framework{"megatron", ""};
  int64_t devices = 0;
  TrainingSpec training;
  int32_t top = 10;
  std::optional<double> max_oom_probability = std::nullopt;  // as in SearchRequest
  std::string offload = {};  // SearchRequest::offloads as ParseOffloads() reads them
  std::string where = {};    // SearchRequest::where as ParseLayoutCondition() reads it
  std::optional<double> time_limit_s = std::nullopt;  // as in SearchRequest
  std::string objective = {};  // SearchRequest::objective as ParseObjective() reads it; empty: MFU
  std::string pareto = {};     // SearchRequest::pareto as ParseMerits() reads it; empty: none
  std::string best_per = {};   // SearchRequest::best_per as ParseGroupFields() reads it
  std::string mine = {};       // text form of the layout whose standing is asked for; empty: none

  friend bool operator==(const PlanQuery&, const PlanQuery&) = default;
};

// The model of a source: a preset, or a config.json. `seq_len` decides whether a sliding window
// matters.
absl::StatusOr<ModelSpec> ResolveModel(const SpecSource& model, int64_t seq_len);

// What a reader of figures about that model should know: which keys of its config.json the planner
// left aside. Empty for presets, and for what ResolveModel() refuses.
std::vector<std::string> NotesOnModel(const SpecSource& model, int64_t seq_len);

// The cluster of a source. `host_cores` as in FindCluster().
absl::StatusOr<ClusterSpec> ResolveCluster(const SpecSource& cluster, int32_t host_cores);

// Looks up presets and parses JSON. The profile's attention is what layouts get that name no kernel
// on this cluster (planner/profile/attention_default.h). `host_cores`: physical cores for clusters
// of processes on shared cores. Errors as in planner/catalog/catalog.h.
absl::StatusOr<SearchRequest> Resolve(const PlanQuery& query, int32_t host_cores);

}  // namespace meshwright::planner
