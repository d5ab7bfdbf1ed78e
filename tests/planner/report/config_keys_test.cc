// Goes through all rows of the table of keys (planner/data/config_keys.json): what a row says of a
// key for an estimate, a trial and each export must be what happens where the key changes.
#include "planner/catalog/config_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>

#include "planner/catalog/architecture_table.h"
#include "planner/interchange/export.h"
#include "planner/rules/refusal.h"
#include "planner/rules/rule_list.h"
#include "tests/planner/catalog/small_config.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json Experts(const char* model_type, int64_t layers = 2) {
  return With(Small(model_type, layers),
              {{"num_experts", 8}, {"num_experts_per_tok", 2}, {"moe_intermediate_size", 32}});
}

json Latent(const char* model_type, int64_t layers = 2) {
  return With(Experts(model_type, layers), {{"q_lora_rank", 16},
                                            {"kv_lora_rank", 32},
                                            {"qk_nope_head_dim", 16},
                                            {"qk_rope_head_dim", 8},
                                            {"v_head_dim", 16},
                                            {"n_group", 1},
                                            {"topk_group", 1},
                                            {"first_k_dense_replace", 0}});
}

json Indexed(const char* model_type) {
  return With(Latent(model_type, 4),
              {{"index_topk", 32}, {"index_n_heads", 4}, {"index_head_dim", 32}});
}

json Scaled(const json& scaling) { return With(Small("llama", 2), {{"rope_scaling", scaling}}); }

json NemotronH() {
  return With(Experts("nemotron_h", 4), {{"hybrid_override_pattern", "ME*E"},
                                         {"mamba_num_heads", 4},
                                         {"mamba_head_dim", 16},
                                         {"n_groups", 2},
                                         {"ssm_state_size", 32},
                                         {"chunk_size", 128},
                                         {"head_dim", 16}});
}

json Bamba(const char* model_type) {
  return With(Small(model_type, 4), {{"mamba_n_heads", 4},
                                     {"mamba_d_head", 32},
                                     {"mamba_n_groups", 2},
                                     {"mamba_d_state", 32},
                                     {"mamba_d_conv", 4},
                                     {"mamba_expand", 2},
                                     {"layer_types", {"mamba", "attention", "mamba", "mamba"}}});
}

json QwenNext() {
  return With(Small("qwen3_next", 4), {{"linear_num_value_heads", 4},
                                       {"linear_num_key_heads", 2},
                                       {"linear_key_head_dim", 32},
                                       {"linear_value_head_dim", 32},
                                       {"full_attention_interval", 2}});
}

json KimiLinear(const char* model_type) {
  return With(Latent(model_type, 4), {{"linear_num_heads", 4},
                                      {"linear_head_dim", 32},
                                      {"full_attn_layers", {4}},
                                      {"kda_layers", {1, 2, 3}}});
}

json DeepSeekV4() {
  return With(Experts("deepseek_v4", 4), {{"head_dim", 32},
                                          {"num_key_value_heads", 1},
                                          {"q_lora_rank", 32},
                                          {"qk_rope_head_dim", 8},
                                          {"o_groups", 2},
                                          {"o_lora_rank", 16},
                                          {"compress_ratios", {0, 4, 128, 4}},
                                          {"index_topk", 64},
                                          {"index_n_heads", 2},
                                          {"index_head_dim", 16},
                                          {"sliding_window", 128},
                                          {"hc_mult", 2}});
}

json Yarn() {
  return {{"rope_type", "yarn"},
          {"factor", 4.0},
          {"original_max_position_embeddings", 4096},
          {"beta_fast", 32},
          {"beta_slow", 1}};
}

// Returns the file whose key changes, for a row's member "of".
json FileOf(const std::string& of) {
  if (of == "bailing_moe") return Experts("bailing_moe");
  if (of == "groups") return With(Experts("bailing_moe"), {{"n_group", 4}, {"topk_group", 2}});
  if (of == "first_dense") return With(Experts("bailing_moe"), {{"first_k_dense_replace", 1}});
  if (of == "further") return With(Small("llama", 2), {{"num_nextn_predict_layers", 1}});
  if (of == "qwen2_windows") {
    return With(Small("qwen2", 2),
                {{"use_sliding_window", true}, {"sliding_window", 64}, {"max_window_layers", 0}});
  }
  if (of == "windows") return With(Small("llama", 2), {{"sliding_window", 64}});
  if (of == "olmo3") return With(Small("olmo3", 4), {{"sliding_window", 64}});
  if (of == "mistral_large4_text") {
    return With(Indexed("mistral_large4_text"), {{"kv_source_layers", {0, 1, 2, 3}}});
  }
  if (of == "olmo_hybrid") return With(QwenNext(), {{"model_type", "olmo_hybrid"}});
  if (of == "llama4")
    return With(Experts("llama4", 4),
                {{"interleave_moe_layer_step", 2}, {"intermediate_size_mlp", 96}});
  if (of == "longrope") return Scaled({{"rope_type", "longrope"}, {"factor", 4.0}});
  if (of == "llama4_long") {
    return With(Experts("llama4"),
                {{"attention_chunk_size", 1 << 20}, {"attn_temperature_tuning", false}});
  }
  if (of == "linear_rope") return Scaled({{"rope_type", "linear"}, {"factor", 2.0}});
  if (of == "rope") return Scaled({{"factor", 4.0}, {"original_max_position_embeddings", 4096}});
  if (of == "yarn") return Scaled(Yarn());
  if (of == "llama3_rope") {
    return Scaled({{"rope_type", "llama3"},
                   {"factor", 8.0},
                   {"low_freq_factor", 1.0},
                   {"high_freq_factor", 4.0},
                   {"original_max_position_embeddings", 8192}});
  }
  if (of == "rope_by_kind") {
    return Scaled({{"full_attention", {{"rope_type", "default"}, {"rope_theta", 1e4}}}});
  }
  if (of == "deepseek_v2" || of == "deepseek_v3") return Latent(of.c_str());
  if (of == "deepseek_v32") return Indexed("deepseek_v32");
  if (of == "indexed") return With(Indexed("deepseek_v32"), {{"index_topk_freq", 3}});
  if (of == "deepseek_v4") return DeepSeekV4();
  if (of == "qwen3_next") return QwenNext();
  if (of == "nemotron_h") return NemotronH();
  if (of == "bamba") return Bamba("bamba");
  if (of == "zamba_names") {
    return With(Small("bamba", 4), {{"n_mamba_heads", 4},
                                    {"mamba_headdim", 32},
                                    {"mamba_ngroups", 2},
                                    {"mamba_d_state", 32},
                                    {"layer_types", {"mamba", "attention", "mamba", "mamba"}}});
  }
  if (of == "granitemoehybrid") {
    return With(Bamba("granitemoehybrid"), {{"shared_intermediate_size", 48}});
  }
  if (of == "falcon_h1") {
    json config = With(Bamba("falcon_h1"), {{"mamba_d_ssm", 128}});
    config.erase("layer_types");
    return config;
  }
  if (of == "jamba") {
    return With(Experts("jamba", 4), {{"mamba_d_state", 16},
                                      {"mamba_expand", 2},
                                      {"attn_layer_period", 4},
                                      {"attn_layer_offset", 1},
                                      {"expert_layer_period", 2},
                                      {"expert_layer_offset", 1}});
  }
  if (of == "mamba" || of == "mamba2") {
    return {{"model_type", of},        {"hidden_size", 64}, {"num_hidden_layers", 3},
            {"num_heads", 16},         {"head_dim", 8},     {"n_groups", 2},
            {"state_size", 16},        {"expand", 2},       {"vocab_size", 512},
            {"num_attention_heads", 4}};
  }
  if (of == "kimi_linear") return KimiLinear("kimi_linear");
  if (of == "kimi_config") {
    return With(Latent("kimi_linear", 4), {{"linear_attn_config",
                                            {{"num_heads", 4},
                                             {"head_dim", 32},
                                             {"full_attn_layers", {4}},
                                             {"kda_layers", {1, 2, 3}}}}});
  }
  if (of == "bailing_hybrid") {
    json config = With(KimiLinear("bailing_hybrid"), {{"layer_group_size", 2}});
    for (const char* key : {"full_attn_layers", "kda_layers"}) config.erase(key);
    return config;
  }
  if (of == "minimax") {
    return With(Experts("minimax", 4), {{"attn_type_list", {0, 0, 1, 0}}, {"block_size", 128}});
  }
  if (of == "lfm2" || of == "lfm2_moe") {
    return With(
        of == "lfm2" ? Small("lfm2", 2) : With(Experts("lfm2_moe"), {{"num_dense_layers", 0}}),
        {{"conv_L_cache", 3}, {"full_attn_idxs", {1}}, {"block_multiple_of", 16}});
  }
  if (of == "recurrent_gemma") return With(Small("recurrent_gemma", 3), {{"lru_width", 64}});
  if (of == "mimo_v2_flash") {
    return With(Experts("mimo_v2_flash", 4), {{"hybrid_layer_pattern", {0, 1, 0, 1}},
                                              {"sliding_window", 64},
                                              {"head_dim", 16},
                                              {"v_head_dim", nullptr},
                                              {"num_attention_heads", 16},
                                              {"num_key_value_heads", 8},
                                              {"add_swa_attention_sink_bias", false}});
  }
  if (of == "step3p5") {
    return With(Experts("step3p5"),
                {{"layer_types", {"full_attention", "sliding_attention"}}, {"sliding_window", 64}});
  }
  if (of == "muse_spark_text") return Experts("muse_spark_text");
  if (of == "gemma4_text" || of == "gemma4_keys") {
    return With(Small("gemma4_text", 6), {{"num_experts", 4},
                                          {"top_k_experts", 2},
                                          {"moe_intermediate_size", 32},
                                          {"enable_moe_block", false},
                                          {"num_kv_shared_layers", 1},
                                          {"attention_k_eq_v", of == "gemma4_keys"},
                                          {"sliding_window", 64}});
  }
  if (of == "axk2") return With(Indexed("axk2"), {{"gated_norm_rank", 16}});
  if (of == "hy_v4") return With(Indexed("hy_v4"), {{"hc_mult", 2}});
  if (of == "zaya") {
    return With(Experts("zaya"), {{"router_hidden_size", 16}, {"cca_time0", 2}, {"cca_time1", 2}});
  }
  if (of == "inkling_text") {
    return With(Experts("inkling_text"), {{"d_rel", 4},
                                          {"rel_extent", 128},
                                          {"conv_kernel_size", 4},
                                          {"n_shared_experts", 1},
                                          {"layer_types", {"hybrid_sliding", "hybrid"}},
                                          {"sliding_window_size", 64}});
  }
  if (of == "gemma3n_text") {
    return With(Small("gemma3n_text", 2), {{"num_kv_shared_layers", 1},
                                           {"altup_num_inputs", 4},
                                           {"laurel_rank", 8},
                                           {"sliding_window_pattern", 2},
                                           {"sliding_window", 64}});
  }
  if (of == "zamba2") {
    return With(Small("zamba2", 4),
                {{"n_mamba_heads", 4},
                 {"mamba_headdim", 32},
                 {"mamba_d_state", 32},
                 {"num_mem_blocks", 1},
                 {"layers_block_type", {"mamba", "hybrid", "mamba", "hybrid"}}});
  }
  if (of == "minimax_m3" || of == "minimax_m3_config") {
    const json sparse = {{"sparse_topk_blocks", 4},
                         {"sparse_block_size", 128},
                         {"sparse_num_index_heads", 2},
                         {"sparse_index_dim", 16}};
    const json config = With(Experts("minimax_m3", 4), {{"moe_intermediate_size", 96}});
    return of == "minimax_m3" ? With(config, sparse)
                              : With(config, {{"sparse_attention_config", sparse}});
  }
  if (of == "nemotron-nas") return Small("nemotron-nas", 2);
  if (of == "openelm") {
    return {{"model_type", "openelm"},       {"hidden_size", 64},      {"num_hidden_layers", 2},
            {"num_query_heads", {4, 6}},     {"num_kv_heads", {2, 3}}, {"head_dim", 16},
            {"ffn_multipliers", {0.5, 2.3}}, {"ffn_dim_divisor", 16},  {"vocab_size", 512}};
  }
  if (of == "mpt") {
    json config = {{"model_type", "mpt"}, {"d_model", 64},     {"n_layers", 2},
                   {"n_heads", 4},        {"vocab_size", 512}, {"max_seq_len", 32768}};
    return config;
  }
  if (of == "gpt2") return With(Small("gpt2", 2), {{"max_position_embeddings", 32768}});
  if (of == "opt") return With(Small("opt", 2), {{"max_position_embeddings", 32768}});
  if (of == "vision") return {{"model_type", "llava"}, {"text_config", Small("llama", 2)}};
  if (of == "brand_new") return With(Small("brand_new", 2), {{"hidden_act", "silu"}});
  return Small(of.c_str(), of == "olmo3" ? 4 : 2);
}

bool IsOfRope(const std::string& of) {
  return of.find("rope") != std::string::npos || of == "yarn";
}

// A file before and after its key changed.
struct Change {
  std::string key;
  json before;
  json after;
};

Change ChangeOf(const KeyRow& row, size_t i) {
  Change change{row.rule.keys[i], json(), json()};
  const json& example = row.examples[i].is_null() ? json(1) : row.examples[i];
  if (row.of == "wrapped") {  // the key holds a whole model
    json inner = example;
    json* model = &inner;
    while (model->contains("text_config")) model = &model->at("text_config");
    *model = Small("llama", 2);
    change.before = {{"model_type", "llava"}, {change.key, inner}};
    change.after = change.before;
    change.after[change.key].merge_patch(example);
    return change;
  }
  change.before = change.after = FileOf(row.of);
  json& holder = IsOfRope(row.of) ? change.after["rope_scaling"] : change.after;
  holder[change.key] = example;
  return change;
}

int64_t TokensOf(const KeyRow& row) { return row.beyond ? 2 * *row.beyond : 4096; }

struct Answer {
  std::string text;  // of what is said, or of the refusal
  bool ok = false;
};

absl::StatusOr<ModelConfig> Read(const json& config, const KeyRow& row) {
  return ReadModelConfig("test", config.dump(), TokensOf(row));
}

Answer ExportOf(const json& config, const KeyRow& row, ExportTarget target) {
  const auto read = Read(config, row);
  if (!read.ok()) return {std::string(read.status().message())};
  const bool is_megatron = target == ExportTarget::kMegatron;
  const auto text = Export(
      target, {.model = read->model,
               .training = {.seq_len = TokensOf(row), .global_batch = 8},
               .layout = MakeLayout(is_megatron ? "tp1.pp1.dp8.zero1" : "tp1.pp1.dp8.zero3")});
  return text.ok() ? Answer{*text, true} : Answer{std::string(text.status().message())};
}

Answer TrialOf(const json& config, const KeyRow& row) {
  const auto read = Read(config, row);
  if (!read.ok()) return {std::string(read.status().message())};
  const FrameworkProfile worker = FindProfile("meshwright").value();
  const TrainingSpec training{
      .seq_len = TokensOf(row), .global_batch = 1, .precision = Precision::kFp32};
  const Layout layout = MakeLayout("tp1.pp1.dp1");
  const auto violation = CheckLayout({.model = read->model,
                                      .training = training,
                                      .profile = worker,
                                      .devices = 1,
                                      .device = DeviceKind::kCpu},
                                     layout);
  if (!violation) return {"", true};
  return {std::string(RefusalOf(read->model, worker, layout, *violation).message())};
}

Answer EstimateOf(const json& config, const KeyRow& row) {
  const auto read = Read(config, row);
  if (!read.ok()) return {std::string(read.status().message())};
  std::string notes;
  for (const std::string& note : NotesOn(*read)) notes += note + "\n";
  return {notes, true};
}

bool IsSameToPlan(const json& before, const json& after, const KeyRow& row) {
  auto a = Read(before, row);
  auto b = Read(after, row);
  if (!a.ok() || !b.ok()) return a.status().message() == b.status().message();
  a->model.set_aside.clear();
  b->model.set_aside.clear();
  return a->model == b->model;
}

// Checks the answer to a changed file against what the row says.
void Check(const KeyUse& use, const Change& change, const Answer& before, const Answer& after,
           bool is_same) {
  const bool names_it = !after.ok && after.text.find(change.key) != std::string::npos;
  switch (use.effect) {
    case KeyEffect::kNothing:
      EXPECT_TRUE(is_same) << "changes something: " << before.text << "\n-> " << after.text;
      break;
    case KeyEffect::kNotes:
      EXPECT_THAT(after.text, HasSubstr(change.key));
      break;
    case KeyEffect::kRuns:
      EXPECT_TRUE(after.ok) << after.text;
      break;
    case KeyEffect::kCounts:
    case KeyEffect::kWrites:
    case KeyEffect::kFlags:
      EXPECT_TRUE(names_it || (after.ok && !is_same)) << "not said: " << after.text;
      break;
    case KeyEffect::kRefuses:
      EXPECT_TRUE(names_it) << "not refused by its key: " << after.text;
      break;
    case KeyEffect::kWith:
      EXPECT_TRUE(!after.ok && after.text.find(use.text) != std::string::npos)
          << "not refused by " << use.text << ": " << after.text;
      break;
  }
}

class ConfigKeyRows : public testing::TestWithParam<size_t> {
 protected:
  const KeyRow& row() const { return ConfigKeys()[GetParam()]; }

  template <typename Test>
  void ForEachKey(const Test& test) const {
    for (size_t i = 0; i < row().rule.keys.size(); ++i) {
      const Change change = ChangeOf(row(), i);
      SCOPED_TRACE(change.key + " = " + row().examples[i].dump() + " of " + row().of);
      ASSERT_TRUE(Read(change.before, row()).ok()) << Read(change.before, row()).status();
      test(change);
    }
  }
};

TEST_P(ConfigKeyRows, AnEstimateDoesWhatTheRowSays) {
  ForEachKey([&](const Change& change) {
    const KeyUse& use = row().For(KeyUser::kEstimate);
    Check(use, change, EstimateOf(change.before, row()), EstimateOf(change.after, row()),
          IsSameToPlan(change.before, change.after, row()));
  });
}

TEST_P(ConfigKeyRows, ATrialDoesWhatTheRowSays) {
  ForEachKey([&](const Change& change) {
    const KeyUse& use = row().For(KeyUser::kTrial);
    Check(use, change, TrialOf(change.before, row()), TrialOf(change.after, row()),
          IsSameToPlan(change.before, change.after, row()));
  });
}

TEST_P(ConfigKeyRows, EachExportDoesWhatTheRowSays) {
  ForEachKey([&](const Change& change) {
    for (const ExportTarget target : {ExportTarget::kMegatron, ExportTarget::kTorchtitan}) {
      SCOPED_TRACE(ExportTargetName(target));
      const Answer before = ExportOf(change.before, row(), target);
      const Answer after = ExportOf(change.after, row(), target);
      const bool is_megatron = target == ExportTarget::kMegatron;
      Check(row().For(is_megatron ? KeyUser::kMegatron : KeyUser::kTorchtitan), change, before,
            after, before.text == after.text);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Rows, ConfigKeyRows, testing::Range(size_t{0}, ConfigKeys().size()),
                         [](const auto& test) {
                           std::string name = ConfigKeys()[test.param].rule.keys.front();
                           for (char& letter : name) {
                             if (std::isalnum(static_cast<unsigned char>(letter)) == 0)
                               letter = '_';
                           }
                           return std::to_string(test.index) + "_" + name;
                         });

TEST(ConfigKeys, EachKeyHasOneRow) {
  std::set<std::string> seen;
  for (const KeyRow& row : ConfigKeys()) {
    for (const std::string& key : row.rule.keys) EXPECT_TRUE(seen.insert(key).second) << key;
  }
}

TEST(ConfigKeys, EachKeyThatFamiliesKnowHasARow) {
  const ArchitectureTable& table = Architectures();
  for (const auto* keys : {&table.general_keys, &table.family_keys}) {
    for (const std::string& key : *keys) EXPECT_NE(FindConfigKey(key), nullptr) << key;
  }
  for (const auto& [model_type, entry] : table.planned) {
    for (const std::string key : entry.value("ignored", json::array())) {
      if (key.ends_with("_std")) continue;  // an ending that changes nothing
      EXPECT_NE(FindConfigKey(key), nullptr) << key;
    }
  }
}

}  // namespace
}  // namespace meshwright::planner
