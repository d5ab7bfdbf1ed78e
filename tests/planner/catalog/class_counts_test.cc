// Counts the parameters of models as transformers' classes (5.20) build them by default.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "planner/block/parameters.h"
#include "tests/planner/catalog/small_config.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;

struct ClassCount {
  const char* model_type;
  json config;
  int64_t parameters = 0;
};

json Repeated(const std::vector<const char*>& kinds, size_t layers) {
  json list = json::array();
  for (size_t layer = 0; layer < layers; ++layer) list.push_back(kinds[layer % kinds.size()]);
  return list;
}

// Returns layers of experts behind one dense layer.
json OneDense(size_t layers) {
  json list = Repeated({"sparse"}, layers);
  list[0] = "dense";
  return list;
}

json HunyuanV4() {
  json indexers = json::array();
  for (int layer = 0; layer < 34; ++layer) {
    indexers.push_back(layer == 0 || layer % 4 == 1 ? "full" : "shared");
  }
  return {{"vocab_size", 120832},
          {"hidden_size", 2816},
          {"intermediate_size", 6912},
          {"moe_intermediate_size", 768},
          {"num_hidden_layers", 34},
          {"num_attention_heads", 32},
          {"head_dim", 64},
          {"n_routed_experts", 256},
          {"n_shared_experts", 1},
          {"num_experts_per_tok", 8},
          {"q_lora_rank", 1536},
          {"kv_lora_rank", 512},
          {"qk_nope_head_dim", 192},
          {"qk_rope_head_dim", 64},
          {"v_head_dim", 256},
          {"mlp_layer_types", OneDense(34)},
          {"layer_types", Repeated({"indexed_attention"}, 34)},
          {"index_topk", 2048},
          {"index_head_dim", 128},
          {"index_n_heads", 16},
          {"indexer_types", indexers},
          {"hc_mult", 4},
          {"hc_magnitude", 2.0},
          {"swiglu_limit", 10.0}};
}

json AxK2() {
  return {{"vocab_size", 163840},
          {"hidden_size", 2048},
          {"intermediate_size", 5120},
          {"moe_intermediate_size", 512},
          {"num_hidden_layers", 48},
          {"num_attention_heads", 32},
          {"n_routed_experts", 128},
          {"n_shared_experts", 1},
          {"num_experts_per_tok", 8},
          {"q_lora_rank", 384},
          {"kv_lora_rank", 128},
          {"qk_nope_head_dim", 64},
          {"qk_rope_head_dim", 32},
          {"v_head_dim", 64},
          {"mlp_layer_types", OneDense(48)},
          {"layer_types", Repeated({"indexed_attention"}, 48)},
          {"index_topk", 2048},
          {"index_head_dim", 128},
          {"index_n_heads", 16},
          {"gated_norm_rank", 16}};
}

json Inkling() {
  const std::vector<const char*> kinds = {"hybrid_sliding", "hybrid_sliding", "hybrid_sliding",
                                          "hybrid_sliding", "hybrid_sliding", "hybrid"};
  return {{"vocab_size", 201024},
          {"hidden_size", 6144},
          {"num_hidden_layers", 66},
          {"num_attention_heads", 64},
          {"num_key_value_heads", 8},
          {"head_dim", 128},
          {"swa_num_attention_heads", 64},
          {"swa_num_key_value_heads", 16},
          {"swa_head_dim", 128},
          {"sliding_window_size", 512},
          {"d_rel", 16},
          {"rel_extent", 1024},
          {"layer_types", Repeated(kinds, 66)},
          {"conv_kernel_size", 4},
          {"mlp_layer_types", Repeated({"sparse"}, 66)},
          {"intermediate_size", 24576},
          {"moe_intermediate_size", 3072},
          {"n_routed_experts", 256},
          {"num_experts_per_tok", 6},
          {"n_shared_experts", 2},
          {"shared_expert_sink", true}};
}

json Zaya() {
  return {{"vocab_size", 262272},
          {"hidden_size", 2048},
          {"num_hidden_layers", 40},
          {"num_attention_heads", 8},
          {"num_key_value_heads", 2},
          {"head_dim", 128},
          {"tie_word_embeddings", true},
          {"moe_intermediate_size", 2048},
          {"num_experts", 16},
          {"num_experts_per_tok", 1},
          {"layer_types", Repeated({"hybrid"}, 40)},
          {"router_hidden_size", 256},
          {"cca_time0", 2},
          {"cca_time1", 2}};
}

// Scales of single numbers and a few vectors of one layer are left out.
constexpr double kLeftOut = 1e-6;

class OfItsClass : public testing::TestWithParam<ClassCount> {};

TEST_P(OfItsClass, AModelHasTheParametersThatTransformersCounts) {
  json config = GetParam().config;
  config["model_type"] = GetParam().model_type;
  const ModelSpec model = ReadModel(config);
  const auto counted = static_cast<double>(GetParam().parameters);
  EXPECT_NEAR(static_cast<double>(Parameters(model)), counted, kLeftOut * counted);
}

INSTANTIATE_TEST_SUITE_P(Each, OfItsClass,
                         testing::Values(ClassCount{"hy_v4", HunyuanV4(), 58278193133},
                                         ClassCount{"axk2", AxK2(), 20314494976},
                                         ClassCount{"inkling_text", Inkling(), 975340270146},
                                         ClassCount{"zaya", Zaya(), 8840488784}),
                         [](const auto& test) { return std::string(test.param.model_type); });

}  // namespace
}  // namespace meshwright::planner
