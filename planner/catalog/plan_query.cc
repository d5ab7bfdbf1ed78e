#include "planner/catalog/plan_query.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/catalog/catalog.h"
#include "planner/catalog/model_config.h"
#include "planner/catalog/profile_variants.h"
#include "planner/catalog/typed_layout.h"
#include "planner/layout/layout_condition.h"
#include "planner/profile/attention_default.h"
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
    // Whoever wrote the file knows what changes neither memory nor time.
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

// Adapters that adapt nothing, and frozen parts that the model has not, are misunderstandings.
absl::Status CheckTrained(const ModelSpec& model, const TrainingSpec& training) {
  const TrainedParts& parts = training.options.train;
  if (parts.all()) return absl::OkStatus();
  if (parts.adapter.four_bit_base && training.precision != Precision::kBf16) {
    return TrainError(parts, absl::StrCat("holds weights in 4 bits for products in bf16; must be "
                                          "lora with --dtype ",
                                          AbslView(PrecisionName(training.precision))));
  }
  if (parts.adapter.targets.Has(AdapterTarget::kExperts) && !model.has_experts()) {
    return TrainError(parts, absl::StrCat("puts adapters on experts, and ", model.name,
                                          " has none; must leave experts out"));
  }
  if (parts.adapter.exists() && !HasAnyTarget(model, parts.adapter.targets)) {
    return TrainError(parts, absl::StrCat("names no product of ", model.name,
                                          "; must be all-linear or name some"));
  }
  if (parts.freezes_towers && model.towers.empty()) {
    return TrainError(parts, absl::StrCat("freezes a tower, and ", model.name,
                                          " has none that is planned; must leave tower out"));
  }
  if (parts.end_frozen > model.layers()) {
    return TrainError(
        parts, absl::StrCat("freezes layers that ", model.name, " has not; must end at layer ",
                            model.layers() - 1, " or before, counted from 0"));
  }
  return absl::OkStatus();
}

// Meshwright's own worker has the optimizers, states and loss of its own alone.
absl::Status CheckOptions(const FrameworkProfile& profile, const TrainingSpec& training) {
  const Optimizer& optimizer = training.optimizer;
  if (profile.engine == Engine::kWorker && optimizer != kAdamW && optimizer != kMuon) {
    return FieldError(
        "optimizer", optimizer.name,
        absl::StrCat("is not run by Meshwright's own worker, whose steps ", profile.name,
                     " plans and trials run; must be adamw or muon, or plan for "
                     "another framework (meshwright list profiles)"));
  }
  if (training.options == RunOptions()) return absl::OkStatus();
  if (profile.engine == Engine::kWorker) {
    for (const RunOption& option : kRunOptions) {
      if (HasDefault(option, training.options)) continue;
      return FieldError(
          option.name, option.text(training.options),
          absl::StrCat("is not run by Meshwright's own worker, whose steps ", profile.name,
                       " plans and trials run; must be ", option.text(RunOptions()),
                       ", or plan for another framework (meshwright list profiles)"));
    }
  }
  if (training.options.states != StateFormats() && !training.formats().HasMasterWeights()) {
    return FieldError("states", run_option::StatesText(training.options),
                      absl::StrCat("is about bf16 weights; must be left out with --dtype ",
                                   AbslView(PrecisionName(training.precision))));
  }
  return absl::OkStatus();
}

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

}  // namespace

absl::StatusOr<SearchRequest> Resolve(const PlanQuery& query, int32_t host_cores) {
  RETURN_IF_ERROR(Validate(query.training));
  const SpecSource& framework = query.framework;
  SearchRequest request;
  ASSIGN_OR_RETURN(request.model, ResolveModel(query.model, query.training.seq_len));
  RETURN_IF_ERROR(CheckImbalance(request.model, query.training));
  ASSIGN_OR_RETURN(request.cluster, ResolveCluster(query.cluster, host_cores));
  ASSIGN_OR_RETURN(request.profile, framework.json.empty() ? FindProfile(framework.name)
                                                           : ProfileFromJson(framework.json));
  RETURN_IF_ERROR(CheckOptions(request.profile, query.training));
  ASSIGN_OR_RETURN(request.profile,
                   VariantOf(std::move(request.profile), query.training.options));
  RETURN_IF_ERROR(CheckTrained(request.model, query.training));
  request.training = query.training;
  ASSIGN_OR_RETURN(request.training.media_tokens, MediaTokens(query, request.model));
  request.profile.supports.attention =
      DefaultAttention(request.profile, request.cluster, request.model, request.training.precision);
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
  if (!query.best_per.empty()) {
    ASSIGN_OR_RETURN(request.best_per, ParseGroupFields("best_per", query.best_per));
  }
  ASSIGN_OR_RETURN(request.offloads, ParseOffloads(query.offload));
  if (!query.mine.empty()) {
    const absl::StatusOr<TypedLayout> mine =
        ReadTypedLayout(query.mine, request.model, request.profile);
    if (!mine.ok()) return WithField(mine.status(), "mine");
    request.mine = mine->layout;
  }
  return request;
}

}  // namespace meshwright::planner
