// PlanQuery is a question to the planner as its user puts it, with presets by name; Resolve() turns
// it into specs.
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
  std::string offload = {};  // SearchRequest::offloads, for ParseOffloads()
  std::string where = {};    // SearchRequest::where, for ParseLayoutCondition()
  std::optional<double> time_limit_s = std::nullopt;  // as in SearchRequest
  std::string objective = {};  // SearchRequest::objective, for ParseObjective(); empty: MFU
  std::string pareto = {};     // SearchRequest::pareto, for ParseMerits(); empty: none
  std::string best_per = {};   // SearchRequest::best_per, for ParseGroupFields()
  std::string mine = {};       // text form of the layout whose rank is asked for; empty: none

  friend bool operator==(const PlanQuery&, const PlanQuery&) = default;
};

// Returns the model of a source: a preset, or a config.json. `seq_len` decides whether a sliding
// window matters.
absl::StatusOr<ModelSpec> ResolveModel(const SpecSource& model, int64_t seq_len);

// Returns what a reader of figures about that model should know: which keys of its config.json the
// planner ignored. Empty for presets, and for what ResolveModel() rejects.
std::vector<std::string> NotesOnModel(const SpecSource& model, int64_t seq_len);

// Returns the cluster of a source. `host_cores` as in FindCluster().
absl::StatusOr<ClusterSpec> ResolveCluster(const SpecSource& cluster, int32_t host_cores);

// Looks up presets and parses JSON. The profile's attention becomes that of layouts that name no
// kernel on this cluster (planner/profile/attention_default.h). `host_cores`: physical cores for
// clusters of processes on shared cores. Errors as in planner/catalog/catalog.h.
absl::StatusOr<SearchRequest> Resolve(const PlanQuery& query, int32_t host_cores);

}  // namespace meshwright::planner
