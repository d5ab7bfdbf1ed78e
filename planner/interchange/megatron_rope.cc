#include "planner/interchange/megatron_rope.h"

#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/status_macros.h"
#include "planner/interchange/layer_list.h"

namespace meshwright::planner {
namespace {

// --use-rope-scaling fixes everything except the factor.
absl::Status CheckLlama3Scaling(const RopeScaling& scaling) {
  constexpr char kFixed[] = "Megatron-LM's --use-rope-scaling fixes this value; must be ";
  const RopeScaling fixed;
  if (scaling.low_freq_factor != fixed.low_freq_factor) {
    return FieldError("rope_scaling.low_freq_factor", absl::StrCat(scaling.low_freq_factor),
                      absl::StrCat(kFixed, fixed.low_freq_factor));
  }
  if (scaling.high_freq_factor != fixed.high_freq_factor) {
    return FieldError("rope_scaling.high_freq_factor", absl::StrCat(scaling.high_freq_factor),
                      absl::StrCat(kFixed, fixed.high_freq_factor));
  }
  if (scaling.original_max_positions != fixed.original_max_positions) {
    return FieldError("rope_scaling.original_max_position_embeddings",
                      scaling.original_max_positions,
                      absl::StrCat(kFixed, fixed.original_max_positions));
  }
  return absl::OkStatus();
}

// Checks values of flags that accept only whole numbers.
absl::Status CheckWhole(std::string_view key, double value, const char* flag) {
  if (value == std::floor(value)) return absl::OkStatus();
  return FieldError(key, absl::StrCat(value),
                    absl::StrCat("Megatron-LM's ", flag, " takes only whole numbers; must be one"));
}

// A key of a YaRN scaling (arXiv 2309.00071) and the flag that says it.
struct YarnKey {
  const char* name;
  const char* flag;
  double fixed = 0.0;  // of latent attention, whose code has no flag for it; 0 if it has one
};
constexpr YarnKey kYarnKeys[] = {
    {"original_max_position_embeddings", "--yarn-original-max-position-embeddings", 4096},
    {"beta_fast", "--yarn-beta-fast", 32},
    {"beta_slow", "--yarn-beta-slow", 1},
    {"mscale", "--mscale"},
    {"mscale_all_dim", "--mscale-all-dim"},
};

absl::Status AddYarn(const ModelSpec& model, AsideKeys& aside, std::vector<std::string>& flags) {
  const bool is_latent = model.FirstAttention().is_latent();
  if (!is_latent && model.mtp_layers > 0) {
    return FieldError("rope_scaling.rope_type", "yarn",
                      "Megatron-LM has no multi-token prediction with it; must be default");
  }
  std::string text = is_latent ? "--rope-type yarn" : "";
  if (const SetAsideKey* factor = aside.Take("factor")) {
    absl::StrAppend(&text, text.empty() ? "" : " ", "--rotary-scaling-factor ", factor->value);
  }
  for (const YarnKey& yarn : kYarnKeys) {
    const SetAsideKey* key = aside.Take(yarn.name);
    double value = 0.0;
    if (key == nullptr || !absl::SimpleAtod(key->value, &value)) continue;
    if (!is_latent || yarn.fixed == 0.0) {
      absl::StrAppend(&text, " ", yarn.flag, " ", key->value);
    } else if (value != yarn.fixed) {
      return FieldError(
          key->key, key->value,
          absl::StrCat("Megatron-LM fixes this value for latent attention; must be ", yarn.fixed));
    }
  }
  const SetAsideKey* truncates = aside.Take("truncate");
  if (truncates != nullptr && truncates->value == "false") {
    if (is_latent) {
      return FieldError(truncates->key, "false",
                        "Megatron-LM has no flag for it with latent attention; must be true");
    }
    text += " --no-yarn-correction-range-round-to-int";
  }
  flags.push_back(text);
  return absl::OkStatus();
}

absl::Status AddScaling(const RopeScaling& scaling, std::vector<std::string>& flags) {
  switch (scaling.kind) {
    case RopeScalingKind::kNone:
      return absl::OkStatus();
    case RopeScalingKind::kLinear:
      RETURN_IF_ERROR(CheckWhole("rope_scaling.factor", scaling.factor,
                                 "--rotary-seq-len-interpolation-factor"));
      flags.push_back(absl::StrFormat("--rotary-seq-len-interpolation-factor %d",
                                      std::llround(scaling.factor)));
      return absl::OkStatus();
    case RopeScalingKind::kLlama3:
      RETURN_IF_ERROR(CheckLlama3Scaling(scaling));
      flags.push_back(
          absl::StrFormat("--use-rope-scaling --rope-scaling-factor %g", scaling.factor));
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

// Returns by layer whether it does not turn queries and keys. The file lists 1 for one that turns
// them, or says that every n-th does not.
LayerFlags LayersWithoutRotary(const ModelSpec& model, AsideKeys& aside) {
  LayerFlags none(static_cast<size_t>(model.layers()), false);
  const SetAsideKey* every = aside.Take("no_rope_layer_interval");
  if (every == nullptr) every = aside.Take("nope_layer_interval");
  const SetAsideKey* listed = aside.Take("no_rope_layers");
  int64_t interval = 0;
  if (listed != nullptr) {
    const auto turns = ParseJson(listed->key, listed->value);
    for (size_t i = 0; turns.ok() && i < none.size() && i < turns->size(); ++i) {
      none[i] = (*turns)[i] == 0;
    }
  } else if (every != nullptr && absl::SimpleAtoi(every->value, &interval) && interval > 0) {
    for (size_t i = 0; i < none.size(); ++i) {
      none[i] = (static_cast<int64_t>(i) + 1) % interval == 0;
    }
  }
  return none;
}

void AddLayersWithoutRotary(const ModelSpec& model, bool is_hybrid, AsideKeys& aside,
                            std::vector<std::string>& flags) {
  const LayerFlags by_layer = LayersWithoutRotary(model, aside);
  if (by_layer == LayerFlags(by_layer.size(), false)) return;
  LayerFlags without;
  size_t layer = 0;
  for (const LayerGroup& group : model.groups) {
    const auto each = static_cast<size_t>(MegatronLayersOf(group, is_hybrid));
    for (int64_t i = 0; i < group.count; ++i) {
      without.insert(without.end(), each, by_layer[layer++]);
    }
  }
  flags.push_back("--no-rope-freq '" + PythonList(without) + "'");
}

// If nothing is turned, no key says how.
void TakeAll(AsideKeys& aside) {
  for (const YarnKey& yarn : kYarnKeys) aside.Take(yarn.name);
  for (const char* name : {"rope_type", "type", "factor", "truncate", "no_rope_layers",
                           "no_rope_layer_interval", "nope_layer_interval"}) {
    aside.Take(name);
  }
}

}  // namespace

absl::Status AddPositions(const ModelSpec& model, bool is_hybrid, AsideKeys& aside,
                          std::vector<std::string>& flags) {
  if (model.positions == Positions::kNone) {
    TakeAll(aside);
    flags.push_back("--position-embedding-type none");
    return absl::OkStatus();
  }
  const SetAsideKey* kind = aside.Take("rope_type");
  if (kind == nullptr) kind = aside.Take("type");
  const bool is_yarn = kind != nullptr && kind->value == "yarn";
  if (kind != nullptr && !is_yarn) {
    return FieldError(kind->key, kind->value,
                      "Megatron-LM has no such scaling of positions; must be default, linear, "
                      "llama3 or yarn");
  }
  const bool is_latent = model.FirstAttention().is_latent();
  RETURN_IF_ERROR(CheckWhole("rope_theta", model.rope_theta, "--rotary-base"));
  flags.push_back(absl::StrFormat("--position-embedding-type %s --rotary-base %d",
                                  is_yarn && !is_latent ? "yarn" : "rope",
                                  std::llround(model.rope_theta)));
  if (model.rotary_share != 1.0) {
    flags.push_back(absl::StrFormat("--rotary-percent %g", model.rotary_share));
  }
  AddLayersWithoutRotary(model, is_hybrid, aside, flags);
  // The default of latent attention is YaRN. Its fused kernel knows nothing else, and no index.
  if (is_latent && !is_yarn) flags.push_back("--rope-type rope");
  if (is_latent && (!is_yarn || model.FirstAttention().index.exists())) {
    flags.push_back("--no-rope-fusion");
  }
  if (is_yarn) return AddYarn(model, aside, flags);
  return AddScaling(model.rope_scaling, flags);
}

}  // namespace meshwright::planner
