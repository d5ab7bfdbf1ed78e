#include "planner/catalog/plan_query.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/catalog/catalog.h"
#include "planner/catalog/model_config.h"
#include "planner/catalog/own_runs.h"
#include "planner/catalog/profile_variants.h"
#include "planner/catalog/typed_layout.h"
#include "planner/layout/layout_condition.h"
#include "planner/profile/attention_default.h"
#include "planner/spec/option_choice.h"
#include "planner/spec/run_option_table.h"

namespace meshwright::planner {

absl::StatusOr<ModelSpec> ResolveModel(const SpecSource& model, int64_t seq_len) {
  if (!model.json.empty()) return ModelFromConfig(model.name, model.json, seq_len);
  ASSIGN_OR_RETURN(const std::string_view preset, ModelText(model.name));
  return ModelFromConfig(model.name, preset, seq_len);
}

std::vector<std::string> NotesOnModel(const SpecSource& model, int64_t seq_len) {
  const bool is_preset = model.json.empty();
  const absl::StatusOr<std::string_view> text =
      is_preset ? ModelText(model.name) : std::string_view(model.json);
  if (!text.ok()) return {};
  absl::StatusOr<ModelConfig> read = ReadModelConfig(model.name, *text, seq_len);
  if (!read.ok()) return {};
  if (is_preset) {
    // Notes about keys that change neither memory nor time are of no use for a preset.
    read->model.set_aside.clear();
    read->without_effect.clear();
  }
  std::vector<std::string> notes = model.notes;
  for (std::string& note : NotesOn(*read)) notes.push_back(std::move(note));
  return notes;
}

absl::StatusOr<ClusterSpec> ResolveCluster(const SpecSource& cluster, int32_t host_cores) {
  return cluster.json.empty() ? FindCluster(cluster.name, host_cores)
                              : ClusterFromJson(cluster.json, host_cores);
}

absl::StatusOr<int64_t> DevicesOf(const SpecSource& cluster) {
  constexpr int32_t kAnyCores = 1;
  ASSIGN_OR_RETURN(const ClusterSpec spec, ResolveCluster(cluster, kAnyCores));
  if (spec.devices() > 0) return spec.devices();
  return FieldError(
      "gpus", "(absent)",
      absl::StrCat("must be the number of devices, since the cluster ", spec.name,
                   " has no number of nodes; h100:8x4 and a file with nodes have one"));
}

absl::Status CheckDevices(const ClusterSpec& cluster, int64_t devices) {
  if (cluster.devices() == 0 || devices <= cluster.devices()) return absl::OkStatus();
  return FieldError("gpus", devices,
                    absl::StrCat("must be at most ", cluster.devices(), ": ", cluster.name, " has ",
                                 cluster.nodes, cluster.nodes == 1 ? " node" : " nodes", " of ",
                                 cluster.devices_per_node, " devices"));
}

namespace {

// An expert load for a model without experts is a misunderstanding.
absl::Status CheckImbalance(const ModelSpec& model, const TrainingSpec& training) {
  if (training.expert_load == 1.0 || model.has_experts()) return absl::OkStatus();
  return FieldError("imbalance", absl::StrCat(training.expert_load),
                    absl::StrCat("says how unevenly tokens go to experts, and ", model.name,
                                 " has none; must be 1"));
}

absl::Status TrainError(const TrainedParts& parts, std::string_view problem) {
  return FieldError("train", TrainedPartsText(parts), problem);
}

// Returns whether the model has a product that the target names.
bool HasTarget(const ModelSpec& model, AdapterTarget target) {
  return std::any_of(model.groups.begin(), model.groups.end(), [&](const LayerGroup& layer) {
    const Attention& attention = layer.attention;
    switch (target) {
      case AdapterTarget::kQuery:
        return attention.exists() && (!attention.is_latent() || attention.query_rank == 0);
      case AdapterTarget::kKey:
      case AdapterTarget::kValue:
        return attention.kind == AttentionKind::kGroupedQuery;
      case AdapterTarget::kOutput:
        return attention.exists();
      case AdapterTarget::kGate:
        return layer.ffn.gated() && layer.ffn.dense_hidden() > 0;
      case AdapterTarget::kUp:
      case AdapterTarget::kDown:
        return layer.ffn.dense_hidden() > 0;
      case AdapterTarget::kOtherLinear:
        break;
      case AdapterTarget::kExperts:
        return layer.ffn.has_experts();
    }
    return true;
  });
}

bool HasAnyTarget(const ModelSpec& model, const AdapterTargets& targets) {
  bool any = false;
  targets.ForEach([&](AdapterTarget target) { any = any || HasTarget(model, target); });
  return any;
}

}  // namespace

// Adapters that adapt nothing, and frozen parts that the model has not, are misunderstandings.
absl::Status CheckTrained(const ModelSpec& model, const TrainingSpec& training) {
  if (training.options.experts == ExpertStates::kReplicated && !model.has_experts()) {
    return FieldError(
        "experts", run_option::ExpertsText(training.options),
        absl::StrCat("applies to experts, and ", model.name, " has none; must be left out"));
  }
  const TrainedParts& parts = training.options.train;
  if (parts.all()) return absl::OkStatus();
  if (parts.adapter.four_bit_base && training.precision != Precision::kBf16) {
    return TrainError(
        parts, absl::StrCat(
                   "needs bf16 matrix products with its base of 4 bits; must be lora with --dtype ",
                   AbslView(PrecisionName(training.precision))));
  }
  if (parts.adapter.targets.Has(AdapterTarget::kExperts) && !model.has_experts()) {
    return TrainError(parts, absl::StrCat("puts adapters on experts, and ", model.name,
                                          " has none; must leave experts out"));
  }
  if (parts.adapter.exists() && !HasAnyTarget(model, parts.adapter.targets)) {
    return TrainError(parts,
                      absl::StrCat("names no linear layer of ", model.name,
                                   "; must be all-linear or name linear layers that it has"));
  }
  if (parts.freezes_towers && model.towers.empty()) {
    return TrainError(parts, absl::StrCat("freezes a tower, and ", model.name,
                                          " has none that is planned; must leave tower out"));
  }
  if (parts.end_frozen > model.layers()) {
    return TrainError(parts, absl::StrCat("freezes layers that ", model.name,
                                          " does not have; must end at layer ", model.layers() - 1,
                                          " or before, counted from 0"));
  }
  return absl::OkStatus();
}

// Meshwright's own worker supports only its own optimizers, states and losses.
absl::Status CheckOptions(const FrameworkProfile& profile, const TrainingSpec& training) {
  const Optimizer& optimizer = training.optimizer;
  if (profile.engine == Engine::kWorker && optimizer != kAdamW && optimizer != kMuon) {
    return FieldError(
        "optimizer", optimizer.name,
        absl::StrCat("is not supported by Meshwright's own worker, whose steps ", profile.name,
                     " plans and trials run; must be adamw or muon, or plan for "
                     "another framework (meshwright list profiles)"));
  }
  if (training.options == RunOptions()) return absl::OkStatus();
  if (profile.engine == Engine::kWorker) {
    for (const RunOption& option : kRunOptions) {
      if (HasDefault(option, training.options)) continue;
      return FieldError(
          option.name, option.text(training.options),
          absl::StrCat("is not supported by Meshwright's own worker, whose steps ", profile.name,
                       " plans and trials run; must be ", option.text(RunOptions()),
                       ", or plan for another framework (meshwright list profiles)"));
    }
  }
  if (training.options.states != StateFormats() && !training.formats().HasMasterWeights()) {
    return FieldError("states", run_option::StatesText(training.options),
                      absl::StrCat("applies to bf16 weights alone; must be left out with --dtype ",
                                   AbslView(PrecisionName(training.precision))));
  }
  return absl::OkStatus();
}

namespace {

int64_t DefaultMediaTokens(const ModelSpec& model, int64_t seq_len) {
  int64_t tokens = 0;
  for (const Tower& tower : model.towers) tokens = std::max(tokens, tower.tokens_per_image);
  return std::min(tokens, seq_len);
}

absl::StatusOr<int64_t> MediaTokens(const PlanQuery& query, const ModelSpec& model) {
  const int64_t seq_len = query.training.seq_len;
  if (!query.media_tokens) return DefaultMediaTokens(model, seq_len);
  RETURN_IF_ERROR(CheckRange("media_tokens", *query.media_tokens, 0, seq_len));
  if (*query.media_tokens == 0 || !model.towers.empty()) return *query.media_tokens;
  return FieldError("media_tokens", absl::StrCat(*query.media_tokens),
                    absl::StrCat("says how many tokens of a sequence stand for images, and ",
                                 model.name, " has no tower that is planned; must be 0"));
}

using Value = std::pair<std::string, std::string>;

absl::StatusOr<FrameworkProfile> ProfileOf(const SpecSource& framework) {
  return framework.json.empty() ? FindProfile(framework.name) : ProfileFromJson(framework.json);
}

// Returns the framework's profile under the options, or why the framework does not run them.
absl::StatusOr<FrameworkProfile> VariantUnder(const FrameworkProfile& framework,
                                              const TrainingSpec& training) {
  RETURN_IF_ERROR(CheckOptions(framework, training));
  return VariantOf(framework, training.options);
}

// Returns the same with the attention kernels that the profile has on the cluster.
absl::StatusOr<FrameworkProfile> ProfileUnder(const FrameworkProfile& framework,
                                              const SearchRequest& request,
                                              const TrainingSpec& training) {
  ASSIGN_OR_RETURN(FrameworkProfile profile, VariantUnder(framework, training));
  profile.supports.attention =
      DefaultAttention(profile, request.cluster, request.model, training.precision);
  profile.supports.sdpa_attention =
      SdpaAttention(profile, request.cluster, request.model, training.precision);
  return profile;
}

// Returns the values that no combination has which the framework runs, each with the reason.
std::vector<std::pair<Value, absl::Status>> LeftOut(const FrameworkProfile& profile,
                                                    const TrainingSpec& training,
                                                    const std::vector<OptionChoice>& choices) {
  std::vector<std::pair<Value, absl::Status>> left_out;
  std::set<Value> runs;
  std::map<Value, absl::Status> refused;
  for (const OptionChoice& choice : choices) {
    const absl::Status status = VariantUnder(profile, WithChoice(training, choice)).status();
    for (const Value& value : choice.values) {
      if (status.ok()) {
        runs.insert(value);
      } else {
        refused.try_emplace(value, status);
      }
    }
  }
  for (const auto& [value, status] : refused) {
    if (!runs.contains(value)) left_out.emplace_back(value, status);
  }
  return left_out;
}

// Returns the combinations of the searched options that the framework runs.
absl::StatusOr<std::vector<OptionChoice>> ChoicesOf(const PlanQuery& query,
                                                    const FrameworkProfile& profile) {
  ASSIGN_OR_RETURN(const std::vector<SearchedOption> options,
                   ParseSearchedOptions("search", query.search));
  ASSIGN_OR_RETURN(std::vector<OptionChoice> choices,
                   CombineOptions("search", options, query.training));
  const auto left_out = LeftOut(profile, query.training, choices);
  std::erase_if(choices, [&](const OptionChoice& choice) {
    return !VariantUnder(profile, WithChoice(query.training, choice)).ok();
  });
  for (const auto& [value, status] : left_out) {
    const auto is_listed = [&value = value](const SearchedOption& option) {
      return option.is_listed && option.name == value.first;
    };
    if (choices.empty() || std::any_of(options.begin(), options.end(), is_listed)) return status;
  }
  return choices;
}

// Sets the profile of each choice that selects another profile of the framework.
absl::Status SetChoiceProfiles(const FrameworkProfile& framework, SearchRequest& request) {
  for (const OptionChoice& choice : request.choices) {
    ASSIGN_OR_RETURN(FrameworkProfile profile,
                     ProfileUnder(framework, request, WithChoice(request.training, choice)));
    const bool is_same = profile.name == request.profile.name;
    request.choice_profiles.push_back(
        is_same ? nullptr : std::make_shared<const FrameworkProfile>(std::move(profile)));
  }
  return absl::OkStatus();
}

std::vector<std::string> WordsOfMine(const PlanQuery& query) {
  return absl::StrSplit(query.mine, absl::ByAnyChar(" \t"), absl::SkipEmpty());
}

absl::StatusOr<TypedLayout> LayoutOfMine(const std::vector<std::string>& words,
                                         const SearchRequest& request) {
  return ReadRunningLayout(words.empty() ? std::string() : words.front(), request.model,
                           request.profile, request.devices);
}

// Sets the layout whose rank is asked for, and its options.
absl::Status ReadMine(const PlanQuery& query, const FrameworkProfile& framework,
                      SearchRequest& request) {
  const std::vector<std::string> words = WordsOfMine(query);
  const absl::StatusOr<TypedLayout> mine = LayoutOfMine(words, request);
  if (!mine.ok()) return WithField(mine.status(), "mine");
  request.mine = mine->layout;
  if (words.size() < 2) return absl::OkStatus();
  TrainingSpec training = query.training;
  OptionValues values;
  for (size_t i = 1; i < words.size(); ++i) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(words[i], absl::MaxSplits('=', 1));
    RETURN_IF_ERROR(SetOption("mine", parts.first, parts.second, training));
    values.push_back(parts);
  }
  ASSIGN_OR_RETURN(FrameworkProfile profile, ProfileUnder(framework, request, training));
  request.mine_profile = std::make_shared<const FrameworkProfile>(std::move(profile));
  request.mine_options = {
      .options = training.options, .optimizer = training.optimizer, .values = std::move(values)};
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> NotesOnMine(const PlanQuery& query, const SearchRequest& request) {
  std::vector<std::string> notes;
  if (!request.mine) return notes;
  const absl::StatusOr<TypedLayout> mine = LayoutOfMine(WordsOfMine(query), request);
  for (const std::string& note : mine.ok() ? mine->notes : std::vector<std::string>()) {
    notes.push_back("mine: " + note);
  }
  return notes;
}

std::vector<std::string> NotesOnSearch(const PlanQuery& query) {
  std::vector<std::string> notes;
  const auto options = ParseSearchedOptions("search", query.search);
  if (!options.ok() || options->empty()) return notes;
  const auto choices = CombineOptions("search", *options, query.training);
  if (!choices.ok()) return notes;
  const auto framework = ProfileOf(query.framework);
  if (!framework.ok()) return notes;
  for (const auto& [value, status] : LeftOut(*framework, query.training, *choices)) {
    notes.push_back(absl::StrCat("the search leaves out ", status.message()));
  }
  return notes;
}

absl::StatusOr<SearchRequest> Resolve(const PlanQuery& query, int32_t host_cores) {
  RETURN_IF_ERROR(Validate(query.training));
  const SpecSource& framework = query.framework;
  SearchRequest request;
  ASSIGN_OR_RETURN(request.model, ResolveModel(query.model, query.training.seq_len));
  RETURN_IF_ERROR(CheckImbalance(request.model, query.training));
  ASSIGN_OR_RETURN(request.cluster, ResolveCluster(query.cluster, host_cores));
  RETURN_IF_ERROR(CheckDevices(request.cluster, query.devices));
  ASSIGN_OR_RETURN(const FrameworkProfile profile, ProfileOf(framework));
  ASSIGN_OR_RETURN(request.profile, ProfileUnder(profile, request, query.training));
  RETURN_IF_ERROR(CheckTrained(request.model, query.training));
  request.training = query.training;
  ASSIGN_OR_RETURN(request.training.media_tokens, MediaTokens(query, request.model));
  request.devices = query.devices;
  request.top = query.top;
  request.max_oom_probability = query.max_oom_probability;
  request.time_limit_s = query.time_limit_s;
  ASSIGN_OR_RETURN(request.where, ParseLayoutCondition("where", query.where));
  if (!query.objective.empty()) {
    ASSIGN_OR_RETURN(request.objective, ParseObjective("objective", query.objective));
  }
  if (!query.pareto.empty()) {
    ASSIGN_OR_RETURN(request.pareto, ParseMerits("pareto", query.pareto));
  }
  if (!query.search.empty()) {
    ASSIGN_OR_RETURN(request.choices, ChoicesOf(query, profile));
    RETURN_IF_ERROR(SetChoiceProfiles(profile, request));
  }
  if (!query.best_per.empty()) {
    ASSIGN_OR_RETURN(request.best_per,
                     ParseGroupFields("best_per", query.best_per, request.choices));
  }
  ASSIGN_OR_RETURN(request.offloads, ParseOffloads(query.offload));
  if (!query.mine.empty()) RETURN_IF_ERROR(ReadMine(query, profile, request));
  RETURN_IF_ERROR(AddOwnRuns(query.measured, request));
  return request;
}

}  // namespace meshwright::planner
