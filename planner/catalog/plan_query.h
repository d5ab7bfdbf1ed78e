// PlanQuery is a query to the planner in the user's terms, with presets by name. Resolve() turns it
// into specs.
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
  std::string json;                     // if empty, `name` is a preset
  std::vector<std::string> notes = {};  // for a model: notes for the reader
  // For the base model of an adapter's file: the parts that the file trains, in the syntax of
  // ParseTrainedParts().
  std::string train = {};

  friend bool operator==(const SpecSource&, const SpecSource&) = default;
};

struct PlanQuery {
  SpecSource model;
  SpecSource cluster;
  SpecSource framework{"megatron", ""};
  int64_t devices = 0;
  TrainingSpec training;
  // TrainingSpec::media_tokens. By default a sequence has one image if the model's file says how
  // many tokens an image has, and none otherwise.
  std::optional<int64_t> media_tokens = std::nullopt;
  int32_t top = 10;
  std::optional<double> max_oom_probability = std::nullopt;  // SearchRequest::max_oom_probability
  std::string offload = {};  // text of SearchRequest::offloads, for ParseOffloads()
  std::string where = {};    // text of SearchRequest::where, for ParseLayoutCondition()
  std::optional<double> time_limit_s = std::nullopt;  // SearchRequest::time_limit_s
  std::string objective = {};  // text for ParseObjective(); if empty, the objective is MFU
  std::string pareto = {};     // text for ParseMerits(); if empty, there is no front
  std::string best_per = {};   // text of SearchRequest::best_per, for ParseGroupFields()
  // Text of a layout whose place in the ranking the user wants to know; empty if there is none.
  // Words such as "loss=chunked:8" may follow it, separated by blanks. They are the options of this
  // layout that differ from the query's options.
  std::string mine = {};
  std::vector<std::string> search = {};  // texts of SearchRequest::choices
                                         // (planner/spec/option_choice.h)
  // Texts of runs that the user did (planner/catalog/own_runs.h). They correct every estimate.
  std::vector<std::string> measured = {};

  friend bool operator==(const PlanQuery&, const PlanQuery&) = default;
};

// Returns the model of a source: a preset, or a config.json. A sliding window that is at least as
// long as `seq_len` is left out.
absl::StatusOr<ModelSpec> ResolveModel(const SpecSource& model, int64_t seq_len);

// Returns what a reader of figures about this model should know: the source's notes, and which keys
// of its config.json the planner ignored. For a preset, the notes only say what is not planned. The
// list is empty for models that ResolveModel() rejects.
std::vector<std::string> NotesOnModel(const SpecSource& model, int64_t seq_len);

// Returns the cluster of a source. `host_cores` means the same as in FindCluster().
absl::StatusOr<ClusterSpec> ResolveCluster(const SpecSource& cluster, int32_t host_cores);

// Returns the number of devices of a cluster. Returns InvalidArgument about `gpus` if the cluster
// does not say how many nodes it has.
absl::StatusOr<int64_t> DevicesOf(const SpecSource& cluster);

// Returns InvalidArgument about `gpus` if the cluster says how many nodes it has and these do not
// have exactly `devices` devices.
absl::Status CheckDevices(const ClusterSpec& cluster, int64_t devices);

// Returns InvalidArgument, naming the option, if the framework does not support an option of the
// training.
absl::Status CheckOptions(const FrameworkProfile& profile, const TrainingSpec& training);
// Returns InvalidArgument about `train` if the model lacks a part that the training freezes or
// adapts.
absl::Status CheckTrained(const ModelSpec& model, const TrainingSpec& training);

// Returns the search that the query asks for, after looking up presets and parsing texts. The
// profile's attention kernel becomes the cluster's default, which applies to layouts that name no
// kernel (planner/profile/attention_default.h). `host_cores` means the same as in FindCluster().
// Returns NotFound for an unknown preset, and InvalidArgument, naming the field, for a value that
// can't be used.
//
// A search over options leaves out values that the framework does not have. The query is in error
// if it names such a value itself, or if no value is left.
absl::StatusOr<SearchRequest> Resolve(const PlanQuery& query, int32_t host_cores);

// Returns one sentence for each value of an option that the query's search leaves out although the
// query does not name the value itself, with the reason. The list is empty if the query's options
// or its framework can't be read.
std::vector<std::string> NotesOnSearch(const PlanQuery& query);

// Returns one sentence for each layout key that the query's `mine` leaves to the framework.
// REQUIRES: Resolve() returned `request` for the query.
std::vector<std::string> NotesOnMine(const PlanQuery& query, const SearchRequest& request);

}  // namespace meshwright::planner
