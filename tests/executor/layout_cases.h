// A LayoutCase is a layout with which the worker is tested. There are cases for each axis alone,
// pairs of axes and all axes; for each schedule, ZeRO stage and recompute mode; for norms of heads
// and blocks of other model families under each of these; and for stages without layers. All cases
// are small enough for one machine.
#pragma once

#include <cctype>
#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "executor/trial/trial.h"
#include "planner/catalog/catalog.h"
#include "tests/executor/test_models.h"

namespace meshwright::trial {

// The differences between a case's model and TinyModel().
struct ModelVariant {
  bool tied = false;
  int64_t layers = 4;
  int64_t kv_heads = 2;  // of 4 heads
  bool qkv_bias = false;
  bool qk_norm = false;
  bool odd = false;  // widths that are not divisible by the number of ranks
  planner::FfnKind ffn = planner::FfnKind::kSwiGlu;
  planner::StreamNorm norm = planner::StreamNorm::kRms;
  bool biases = false;  // for all of a block's products
  double rotary_share = 1.0;
  bool positions = true;
  int64_t experts = 0;  // number of experts in each layer but the first, of width 24; 0: none
  int64_t top_k = 2;
  bool shared = false;   // also a shared expert
  bool sigmoid = false;  // sigmoid scores; experts come from one of two groups
  bool balanced = false;
  double capacity = 0.0;       // factor of an expert's even share; 0: no limit
  bool router_losses = false;  // balance loss, z-loss and a bias of the router
  // Number of keys that queries see in the first layer, the third, and so on. In the other layers,
  // queries see all keys.
  int64_t window = 0;
  bool chunked = false;  // queries see only the keys of their chunk of `window` tokens
  bool latent = false;
  int64_t value_dim = 8;  // width of values in latent attention, whose keys have width 12
  bool muon = false;      // instead of AdamW
  bool sinks = false;
  bool selection_bias = false;  // of experts; large enough to reroute tokens
  // A config.json from which the model is read instead, and the name of its cases.
  const char* config = nullptr;
  const char* config_name = "";
};

// chosen_layouts.txt says which of a table's cases run on every change (layout_choice.h).
struct LayoutCase {
  std::string layout;
  ModelVariant model = {};
  int64_t global_batch = 8;
};

inline void PrintTo(const LayoutCase& test_case, std::ostream* out) { *out << test_case.layout; }

// Returns the differences from TinyModel() as the words that follow the layout in a test's name.
inline std::vector<std::string> ModelWords(const ModelVariant& model) {
  std::vector<std::string> words;
  const auto add = [&words](bool has, std::string word) {
    if (has) words.push_back(std::move(word));
  };
  add(model.tied, "tied");
  add(model.layers != 4, "layers" + std::to_string(model.layers));
  add(model.kv_heads != 2, "kv" + std::to_string(model.kv_heads));
  add(model.qkv_bias, "bias");
  add(model.qk_norm, "qk_norm");
  add(model.odd, "odd");
  add(model.ffn == planner::FfnKind::kGelu, "gelu");
  add(model.ffn == planner::FfnKind::kRelu, "relu");
  add(model.biases, "biases");
  add(model.norm == planner::StreamNorm::kLayer, "layer_norm");
  add(model.norm == planner::StreamNorm::kLayerWithoutBias, "weighted_norm");
  add(model.norm == planner::StreamNorm::kLayerPlain, "plain_norm");
  add(model.rotary_share != 1.0, "partial_rotary");
  add(!model.positions, "no_positions");
  add(model.experts > 0,
      "experts" + std::to_string(model.experts) + "_top" + std::to_string(model.top_k));
  add(model.shared, "shared");
  add(model.sigmoid, "sigmoid");
  add(model.balanced, "balanced");
  add(model.capacity > 0.0, "capacity" + std::to_string(static_cast<int>(model.capacity * 100.0)));
  add(model.router_losses, "losses");
  add(model.window > 0, (model.chunked ? "chunk" : "window") + std::to_string(model.window));
  add(model.latent, "latent" + std::to_string(model.value_dim));
  add(model.muon, "muon");
  add(model.sinks, "sinks");
  add(model.selection_bias, "selection_bias");
  add(model.config != nullptr, model.config_name);
  return words;
}

// Returns a test's name: "tp2_pp2_dp1_tied".
inline std::string CaseName(const LayoutCase& test_case) {
  std::string name;
  for (const char c : test_case.layout) name += std::isalnum(c) != 0 ? c : '_';
  for (const std::string& word : ModelWords(test_case.model)) name += "_" + word;
  if (test_case.global_batch != 8) name += "_gb" + std::to_string(test_case.global_batch);
  return name;
}

// Makes all layers but the first layers with experts.
inline void AddExperts(const ModelVariant& variant, planner::ModelSpec& model) {
  planner::LayerGroup experts = model.groups.front();
  model.groups.front().count = 1;
  experts.count = variant.layers - 1;
  experts.ffn.hidden = 24;
  experts.ffn.experts = {.count = variant.experts, .top_k = variant.top_k};
  experts.ffn.experts.capacity_factor = variant.capacity;
  if (variant.router_losses) {
    experts.ffn.experts.router_bias = true;
    experts.ffn.experts.balance_loss = 0.25;
    experts.ffn.experts.z_loss = 0.125;
  }
  if (variant.shared) experts.ffn.experts.shared_hidden = 16;
  if (variant.sigmoid) {
    experts.ffn.experts.score = planner::RouterScore::kSigmoid;
    experts.ffn.experts.groups = 2;
  }
  if (variant.selection_bias) {
    experts.ffn.experts.selection_bias = true;
    experts.ffn.experts.bias_update_rate = 0.01;
  }
  model.groups.push_back(experts);
}

// Divides the model into groups of one layer each, of which every other one has a window.
inline void AlternateWindows(const ModelVariant& variant, planner::ModelSpec& model) {
  planner::LayerGroup layer = model.groups.front();
  const int64_t layers = model.layers();
  layer.count = 1;
  model.groups.clear();
  for (int64_t i = 0; i < layers; ++i) {
    layer.attention.window = i % 2 == 0 ? variant.window : 0;
    layer.attention.chunked = i % 2 == 0 && variant.chunked;
    model.groups.push_back(layer);
  }
}

inline TrialPlan PlanOf(const LayoutCase& test_case, int32_t steps) {
  TrialPlan plan;
  plan.model = TinyModel();
  plan.model.tied_embeddings = test_case.model.tied;
  plan.model.norm = test_case.model.norm;
  plan.model.rotary_share = test_case.model.rotary_share;
  if (!test_case.model.positions) plan.model.positions = planner::Positions::kNone;
  plan.model.groups.front().count = test_case.model.layers;
  plan.model.groups.front().attention.kv_heads = test_case.model.kv_heads;
  plan.model.groups.front().attention.qkv_bias = test_case.model.qkv_bias;
  plan.model.groups.front().attention.qk_norm = test_case.model.qk_norm;
  plan.model.groups.front().ffn.kind = test_case.model.ffn;
  if (test_case.model.biases) {
    plan.model.groups.front().attention.qkv_bias = true;
    plan.model.groups.front().attention.output_bias = true;
    plan.model.groups.front().ffn.bias = true;
  }
  if (test_case.model.odd) {
    plan.model.hidden = 31;
    plan.model.vocab = 63;
  }
  if (test_case.model.latent) {
    plan.model.groups.front().attention = TinyLatentAttention(test_case.model.value_dim);
  }
  plan.model.groups.front().attention.sinks = test_case.model.sinks;
  if (test_case.model.window > 0) AlternateWindows(test_case.model, plan.model);
  if (test_case.model.experts > 0) AddExperts(test_case.model, plan.model);
  plan.training = TinyTraining();
  if (test_case.model.config != nullptr) {
    plan.model =
        planner::ModelFromConfig("toy", test_case.model.config, plan.training.seq_len).value();
  }
  if (!test_case.model.balanced) plan.training.routing = planner::Routing::kLearned;
  if (test_case.model.muon) plan.training.optimizer = planner::kMuon;
  plan.training.global_batch = test_case.global_batch;
  plan.layout = planner::ParseLayout(test_case.layout).value();
  plan.steps = steps;
  plan.seed = 11;
  plan.timeout_s = 60.0;
  plan.known_peak_flops = 1e9;  // these tests ignore speed
  return plan;
}

std::vector<LayoutCase> AxisCases();
std::vector<LayoutCase> PairCases();
std::vector<LayoutCase> ScheduleCases();
std::vector<LayoutCase> RecomputeCases();
std::vector<LayoutCase> ZeroCases();
std::vector<LayoutCase> HsdpCases();
std::vector<LayoutCase> NamedStageCases();
std::vector<LayoutCase> AllAxesCases();
std::vector<LayoutCase> HeadNormCases();
std::vector<LayoutCase> OtherFamilyCases();
std::vector<LayoutCase> MuonCases();
// Defined in attention_cases.cc.
std::vector<LayoutCase> WindowCases();
std::vector<LayoutCase> LatentCases();
std::vector<LayoutCase> SinkCases();

// Models with experts under each axis, schedule, ZeRO stage and recompute mode. With learned
// routing, a rank's memory depends on the routing.
std::vector<LayoutCase> BalancedExpertCases();
std::vector<LayoutCase> LearnedExpertCases();
std::vector<LayoutCase> MuonExpertCases();

// Defined in module_layout_cases.cc: each module that a layout may name in rc=, and combinations.
std::vector<LayoutCase> DenseModuleCases();
std::vector<LayoutCase> BalancedModuleCases();
std::vector<LayoutCase> LearnedModuleCases();

// Defined in gpt_oss_cases.cc: toy models of the GPT-OSS family, at least one per axis and
// schedule.
std::vector<LayoutCase> BalancedGptOssCases();
std::vector<LayoutCase> LearnedGptOssCases();
std::vector<LayoutCase> MuonGptOssCases();

// Defined in selection_bias_cases.cc: routers whose selection biases are updated, with learned
// routing.
std::vector<LayoutCase> SelectionBiasCases();

// All cases of models without experts, except those for modules.
std::vector<LayoutCase> AllCases();

// Layouts that offload, for models that run on a GPU.
std::vector<LayoutCase> OffloadCases();

// Layouts with stages that have the embedding or the head, but no layer.
std::vector<LayoutCase> EndStageCases();

// Defined in narrow_cases.cc: models whose products have E4M3 factors. In the Bf16 cases, all other
// operators run in bf16.
std::vector<LayoutCase> NarrowCases();
std::vector<LayoutCase> NarrowExpertCases();
std::vector<LayoutCase> NarrowBf16Cases();

}  // namespace meshwright::trial
