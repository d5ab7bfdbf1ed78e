#include "planner/catalog/block_configs.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/status_macros.h"
#include "planner/catalog/key_rule.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;

constexpr const char* kBlocksKey = "block_configs";
constexpr const char* kFactorsKey = "ffn_multipliers";
constexpr const char* kListKeys[] = {kBlocksKey, kFactorsKey, "num_query_heads",
                                     "num_key_value_heads_per_layer"};
constexpr int64_t kWidthMultiple = 256;  // of an FFN, to which it is rounded up
constexpr double kLargestFfnFactor = 1024.0;
constexpr int64_t kWidestOfBlocks = int64_t{1} << 21;

// Keys of a block that have to be off.
constexpr const char* kUnplannedOfAttention[] = {"num_sink_tokens", "replace_with_linear",
                                                 "sparsify", "window_length", "unshifted_sink"};
constexpr const char* kUnplannedOfFfn[] = {"replace_with_linear", "sparsify"};

// Returns the fields of one half of a block, without checking that there is nothing else in it.
template <size_t n>
absl::StatusOr<JsonFields> HalfOf(const json& block, const std::string& name, int64_t layer,
                                  const char* const (&unplanned)[n]) {
  const std::string prefix = absl::StrCat(kBlocksKey, "[", layer, "].", name);
  const auto half = block.find(name);
  if (half == block.end() || !half->is_object()) {
    return FieldError(prefix, "(absent)", "must be an object");
  }
  for (const char* key : unplanned) {
    const auto value = half->find(key);
    if (value == half->end() || IsOff(*value)) continue;
    return FieldError(absl::StrCat(prefix, ".", key), ShowJson(*value),
                      "not planned yet; must be absent or null");
  }
  return JsonFields(*half, prefix + ".");
}

absl::StatusOr<Attention> AttentionOf(const json& block, int64_t layer, const Attention& usual) {
  ASSIGN_OR_RETURN(JsonFields fields, HalfOf(block, "attention", layer, kUnplannedOfAttention));
  if (fields.BoolOr("no_op", false)) return kNoAttention;
  const int64_t group = fields.Int("n_heads_in_group");
  RETURN_IF_ERROR(fields.status());
  if (group < 1 || usual.heads % group != 0) {
    return FieldError(absl::StrCat(kBlocksKey, "[", layer, "].attention.n_heads_in_group"), group,
                      absl::StrCat("must divide num_attention_heads = ", usual.heads));
  }
  Attention attention = usual;
  attention.kv_heads = usual.heads / group;
  return attention;
}

absl::StatusOr<Ffn> FfnOf(const json& block, int64_t layer, int64_t hidden, const Ffn& usual) {
  ASSIGN_OR_RETURN(JsonFields fields, HalfOf(block, "ffn", layer, kUnplannedOfFfn));
  if (fields.BoolOr("no_op", false)) return kNoFfn;
  Ffn ffn = usual;
  if (const auto width = fields.OptionalInt("intermediate_size"); width) {
    RETURN_IF_ERROR(fields.status());
    ffn.hidden = *width;
    return ffn;
  }
  const double factor = fields.Number("ffn_mult");
  RETURN_IF_ERROR(fields.status());
  if (!(factor > 0.0) || factor > kLargestFfnFactor) {
    return FieldError(absl::StrCat(kBlocksKey, "[", layer, "].ffn.ffn_mult"), absl::StrCat(factor),
                      absl::StrCat("must be above 0 and at most ", kLargestFfnFactor));
  }
  const auto width = static_cast<int64_t>(2.0 * factor * static_cast<double>(hidden) / 3.0);
  ffn.hidden = (width + kWidthMultiple - 1) / kWidthMultiple * kWidthMultiple;
  return ffn;
}

// Returns the whole number at `layer` of a list; `fallback` if there is no such list.
absl::StatusOr<int64_t> SizeAt(JsonFields& fields, const char* key, int64_t layer,
                               int64_t fallback) {
  const json* list = fields.OptionalArray(key);
  RETURN_IF_ERROR(fields.status());
  if (list == nullptr) return fallback;
  const auto at = static_cast<size_t>(layer);
  if (at >= list->size() || !(*list)[at].is_number_integer()) {
    return FieldError(key, at < list->size() ? ShowJson((*list)[at]) : "(absent)",
                      absl::StrCat("must be a whole number for layer ", layer));
  }
  return (*list)[at].get<int64_t>();
}

// Returns the width at `layer` of OpenELM's FFNs: the multiple of a divisor that is nearest to a
// factor of the hidden width, and no more than a tenth below it.
absl::StatusOr<int64_t> MultipliedWidth(JsonFields& fields, int64_t layer, int64_t hidden) {
  const json* factors = fields.OptionalArray(kFactorsKey);
  const int64_t divisor = fields.IntOr("ffn_dim_divisor", kWidthMultiple);
  RETURN_IF_ERROR(fields.status());
  RETURN_IF_ERROR(CheckRange("ffn_dim_divisor", divisor, 1, kWidestOfBlocks));
  const auto at = static_cast<size_t>(layer);
  const bool is_number = at < factors->size() && (*factors)[at].is_number();
  const double factor = is_number ? (*factors)[at].get<double>() : 0.0;
  if (!(factor > 0.0) || factor > kLargestFfnFactor) {
    return FieldError(
        kFactorsKey, at < factors->size() ? ShowJson((*factors)[at]) : "(absent)",
        absl::StrCat("must be above 0 and at most ", kLargestFfnFactor, " for layer ", layer));
  }
  const double width = factor * static_cast<double>(hidden);
  const auto whole = static_cast<int64_t>(width + static_cast<double>(divisor) / 2.0);
  const int64_t nearest = std::max(divisor, whole / divisor * divisor);
  return static_cast<double>(nearest) < 0.9 * width ? nearest + divisor : nearest;
}

absl::StatusOr<std::vector<LayerGroup>> ReadListedSizes(JsonFields& fields,
                                                        const Architecture& architecture,
                                                        int64_t hidden, int64_t layers) {
  const bool has_factors = fields.Has(kFactorsKey);
  const bool has_heads = fields.Has("num_query_heads");
  const int64_t heads = has_heads ? 1 : fields.Int("num_attention_heads");
  fields.Fail(CheckRange("num_attention_heads", heads, 1, hidden));
  const int64_t dim = has_heads || fields.Has("head_dim") ? fields.Int("head_dim") : hidden / heads;
  const int64_t width = has_factors ? 1 : fields.Int("intermediate_size");
  fields.Has("num_key_value_heads");
  RETURN_IF_ERROR(fields.status());
  std::vector<LayerGroup> groups;
  for (int64_t layer = 0; layer < layers; ++layer) {
    LayerGroup group{.ffn = {.kind = architecture.ffn, .hidden = width}, .count = 1};
    group.attention.head_dim = dim;
    group.attention.qk_norm = architecture.qk_norm;
    group.attention.qkv_bias = architecture.qkv_bias;
    group.attention.output_bias = architecture.output_bias;
    ASSIGN_OR_RETURN(group.attention.heads, SizeAt(fields, "num_query_heads", layer, heads));
    const char* kv_key = has_heads ? "num_kv_heads" : "num_key_value_heads_per_layer";
    ASSIGN_OR_RETURN(group.attention.kv_heads,
                     SizeAt(fields, kv_key, layer, group.attention.heads));
    if (has_factors) {
      ASSIGN_OR_RETURN(group.ffn.hidden, MultipliedWidth(fields, layer, hidden));
    }
    groups.push_back(group);
  }
  return groups;
}

Attention UsualAttention(JsonFields& fields, const Architecture& architecture, int64_t hidden) {
  Attention attention{.heads = fields.Int("num_attention_heads"),
                      .qkv_bias = architecture.qkv_bias,
                      .output_bias = architecture.output_bias};
  fields.Has("num_key_value_heads");
  fields.Fail(CheckRange("num_attention_heads", attention.heads, 1, hidden));
  if (fields.status().ok()) {
    attention.head_dim = fields.IntOr("head_dim", hidden / attention.heads);
  }
  return attention;
}

}  // namespace

bool HasBlockConfigs(const json& config) {
  return std::any_of(std::begin(kListKeys), std::end(kListKeys), [&](const char* key) {
    const auto list = config.find(key);
    return list != config.end() && !IsOff(*list);
  });
}

absl::StatusOr<std::vector<LayerGroup>> ReadBlockConfigs(JsonFields& fields,
                                                         const Architecture& architecture,
                                                         int64_t hidden, int64_t layers) {
  RETURN_IF_ERROR(fields.status());
  RETURN_IF_ERROR(CheckRange("hidden_size", hidden, 1, kWidestOfBlocks));
  const json* blocks = fields.OptionalArray(kBlocksKey);
  RETURN_IF_ERROR(fields.status());
  if (blocks == nullptr) return ReadListedSizes(fields, architecture, hidden, layers);
  const Attention attention = UsualAttention(fields, architecture, hidden);
  const Ffn ffn{.kind = architecture.ffn, .bias = architecture.ffn_bias};
  fields.Has("intermediate_size");
  RETURN_IF_ERROR(fields.status());
  if (static_cast<int64_t>(blocks->size()) != layers) {
    return FieldError(kBlocksKey, static_cast<int64_t>(blocks->size()),
                      absl::StrCat("must describe each of ", layers, " layers"));
  }
  std::vector<LayerGroup> groups;
  for (int64_t layer = 0; layer < layers; ++layer) {
    const json& block = (*blocks)[static_cast<size_t>(layer)];
    LayerGroup group{.count = 1};
    ASSIGN_OR_RETURN(group.attention, AttentionOf(block, layer, attention));
    ASSIGN_OR_RETURN(group.ffn, FfnOf(block, layer, hidden, ffn));
    groups.push_back(group);
  }
  return groups;
}

}  // namespace meshwright::planner
