#include "planner/catalog/block_configs.h"

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
  const auto blocks = config.find(kBlocksKey);
  return blocks != config.end() && !IsOff(*blocks);
}

absl::StatusOr<std::vector<LayerGroup>> ReadBlockConfigs(JsonFields& fields,
                                                         const Architecture& architecture,
                                                         int64_t hidden, int64_t layers) {
  RETURN_IF_ERROR(fields.status());
  RETURN_IF_ERROR(CheckRange("hidden_size", hidden, 1, kWidestOfBlocks));
  const json* blocks = fields.OptionalArray(kBlocksKey);
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
