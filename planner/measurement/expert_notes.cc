#include "planner/measurement/expert_notes.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/block/parameters.h"
#include "planner/measurement/noted_values.h"

namespace meshwright::planner {
namespace {

// The number that begins a value noted under `key`.
template <typename Number>
std::optional<Number> Noted(std::string_view notes, std::string_view key) {
  for (const std::string_view value : NotedValues(notes, key)) {
    Number number{};
    const char* const begin = value.data();
    const auto [end, error] = std::from_chars(begin, begin + value.size(), number);
    if (error == std::errc() && end != begin) return number;
  }
  return std::nullopt;
}

// Under whichever of its names it stands.
OptionalInt Count(std::string_view notes, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (const auto number = Noted<int64_t>(notes, key)) return number;
  }
  return std::nullopt;
}

absl::Status NotSaid(std::string_view column) {
  return FieldError(column, "(empty)", "a model with experts needs this, in a column or the notes");
}

absl::Status Need(std::string_view column, const OptionalInt& given, int64_t& value) {
  if (given) value = *given;
  if (value < 1) return NotSaid(column);
  return absl::OkStatus();
}

void ReadLatentAttention(std::string_view notes, Attention& attention) {
  const OptionalInt rank = Count(notes, {"kv_lora_rank", "kv-lora-rank"});
  if (!rank) return;
  attention.kind = AttentionKind::kLatent;
  attention.kv_rank = *rank;
  attention.query_rank = Count(notes, {"q_lora_rank", "q-lora-rank"}).value_or(0);
  attention.rotary_dim = Count(notes, {"qk_rope_dim", "qk-pos-emb-head-dim"}).value_or(64);
  attention.value_dim = Count(notes, {"v_head_dim", "v-head-dim"}).value_or(128);
  attention.head_dim =
      Count(notes, {"qk_head_dim", "qk-head-dim"}).value_or(128) + attention.rotary_dim;
  attention.kv_heads = attention.heads;
}

absl::Status ReadExperts(std::string_view notes, Ffn& ffn) {
  Experts& experts = ffn.experts;
  RETURN_IF_ERROR(Need("experts", Count(notes, {"experts", "num-experts"}), experts.count));
  RETURN_IF_ERROR(Need("top_k", Count(notes, {"top_k", "moe-router-topk"}), experts.top_k));
  experts.shared_hidden =
      Count(notes, {"shared_ffn", "moe-shared-expert-intermediate-size"}).value_or(0);
  if (const OptionalInt width = Count(notes, {"moe_ffn", "moe-ffn-hidden-size"})) {
    ffn.hidden = *width;
  }
  return absl::OkStatus();
}

// Of a model that is not a preset.
absl::StatusOr<ModelSpec> NotedModel(const Measurement& row, ModelSpec model) {
  LayerGroup layer = model.groups.empty() ? LayerGroup() : model.groups.front();
  Attention& attention = layer.attention;
  int64_t layers = 0;
  RETURN_IF_ERROR(Need("layers", row.layers, layers));
  RETURN_IF_ERROR(Need("hidden", row.hidden, model.hidden));
  RETURN_IF_ERROR(Need("heads", row.heads, attention.heads));
  RETURN_IF_ERROR(Need("vocab", row.vocab, model.vocab));
  RETURN_IF_ERROR(Need("ffn", row.ffn, layer.ffn.hidden));
  attention.kv_heads = row.kv_heads.value_or(attention.heads);
  attention.head_dim =
      Count(row.notes, {"head_dim", "kv-channels"}).value_or(model.hidden / attention.heads);
  ReadLatentAttention(row.notes, attention);
  LayerGroup expert_layer = layer;
  RETURN_IF_ERROR(ReadExperts(row.notes, expert_layer.ffn));
  const int64_t dense = Count(row.notes, {"dense_layers"}).value_or(0);
  model.groups.clear();
  if (dense > 0) {
    layer.count = dense;
    model.groups.push_back(layer);
  }
  expert_layer.count = layers - dense;
  model.groups.push_back(expert_layer);
  return model;
}

// A shortened model keeps one layer of each kind except the last kind, and the other layers are of
// the last kind. SimuMax's DeepSeek-V3 of 4 layers is such a model: its memory on each of two
// stages matches one dense layer and three layers with experts.
void KeepLayers(int64_t layers, ModelSpec& model) {
  if (layers >= model.layers()) return;
  int64_t left = layers;
  for (LayerGroup& group : model.groups) {
    group.count = &group == &model.groups.back() ? left : std::min<int64_t>(left, 1);
    left -= group.count;
  }
  std::erase_if(model.groups, [](const LayerGroup& group) { return group.count == 0; });
}

double CausalFlopsPerToken(ModelSpec model, int64_t seq_len, int64_t mtp_layers) {
  model.mtp_layers = mtp_layers;
  const TrainingSpec training = {.seq_len = seq_len, .global_batch = 1};
  return CausalStepFlops(model, training) / static_cast<double>(seq_len);
}

// Runs that measure speed often leave out the layers that predict further tokens. If the notes
// don't mention these layers, the FLOPs that the source counts for a token show whether they ran.
int64_t MtpLayersOf(const Measurement& row, const ModelSpec& model) {
  if (const OptionalInt noted = Count(row.notes, {"mtp_layers", "mtp-num-layers"})) return *noted;
  if (model.mtp_layers == 0 || !row.tflops_per_gpu || !row.tokens_per_s_per_gpu || !row.seq) {
    return 0;
  }
  const double counted = *row.tflops_per_gpu * 1e12 / *row.tokens_per_s_per_gpu;
  const double with = CausalFlopsPerToken(model, *row.seq, model.mtp_layers);
  const double without = CausalFlopsPerToken(model, *row.seq, 0);
  return std::abs(counted - with) < std::abs(counted - without) ? model.mtp_layers : 0;
}

}  // namespace

absl::StatusOr<ModelSpec> ExpertModelOf(const Measurement& row, ModelSpec known) {
  ModelSpec model = std::move(known);
  if (model.has_experts()) {
    if (row.hidden && *row.hidden != model.hidden) {
      return FieldError("hidden", *row.hidden,
                        "must be that of " + model.name + ", " + std::to_string(model.hidden));
    }
    if (row.layers) KeepLayers(*row.layers, model);
  } else {
    ASSIGN_OR_RETURN(model, NotedModel(row, std::move(model)));
  }
  const auto capacity = Noted<double>(row.notes, "capacity_factor");
  for (LayerGroup& group : model.groups) {
    if (group.ffn.has_experts()) group.ffn.experts.capacity_factor = capacity.value_or(0.0);
  }
  RETURN_IF_ERROR(Validate(model));
  model.mtp_layers = MtpLayersOf(row, model);
  return model;
}

int64_t ExpertTensorRanksOf(const Measurement& row) {
  if (row.etp) return *row.etp;
  const std::string notes = absl::AsciiStrToLower(row.notes);
  if (const OptionalInt noted = Count(notes, {"etp", "expert-tensor-parallel-size"})) {
    return *noted;
  }
  const int64_t tp = row.tp.value_or(1);
  const int64_t ranks = tp * row.cp.value_or(1) * row.dp.value_or(1);
  const int64_t ep = std::max<int64_t>(row.ep.value_or(1), 1);
  const bool lacks_ranks = row.dp && ranks % (ep * tp) != 0;
  return Contains(notes, "folding") || lacks_ranks ? 1 : tp;
}

}  // namespace meshwright::planner
