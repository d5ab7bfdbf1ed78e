#include "executor/worker/state/parameter_map.h"

#include <utility>

namespace meshwright::worker {
namespace {

ParameterPart RowsOf(std::string name, int64_t rows, int64_t columns, int32_t tp_rank, int32_t tp) {
  const int64_t local = rows / tp;
  return {.name = std::move(name),
          .global_rows = rows,
          .global_columns = columns,
          .row_begin = tp_rank * local,
          .column_begin = 0,
          .rows = local,
          .columns = columns};
}

ParameterPart ColumnsOf(std::string name, int64_t rows, int64_t columns, int32_t tp_rank,
                        int32_t tp) {
  const int64_t local = columns / tp;
  return {.name = std::move(name),
          .global_rows = rows,
          .global_columns = columns,
          .row_begin = 0,
          .column_begin = tp_rank * local,
          .rows = rows,
          .columns = local};
}

// A vector divided over tp ranks, or whole with tp = 1.
ParameterPart VectorOf(std::string name, int64_t size, int32_t tp_rank, int32_t tp,
                       Initial initial) {
  ParameterPart part = ColumnsOf(std::move(name), 1, size, tp_rank, tp);
  part.initial = initial;
  return part;
}

LocalParameter Norm(std::string name, int64_t size) {
  return {.parts = {VectorOf(std::move(name), size, 0, 1, Initial::kOnes)},
          .matrix = false,
          .replicated = true};
}

LocalParameter HeadNorm(std::string name, int64_t head_dim) {
  LocalParameter norm = Norm(std::move(name), head_dim);
  norm.of_heads = true;
  return norm;
}

}  // namespace

int64_t LocalParameter::rows() const {
  int64_t rows = 0;
  for (const ParameterPart& part : parts) rows += part.rows;
  return rows;
}

ParameterUnit LayerUnit(const planner::ModelSpec& model, int64_t layer, int32_t tp_rank, int32_t tp) {
  const std::string prefix = "layers." + std::to_string(layer) + ".";
  const planner::LayerGroup& group = model.GroupOf(layer);
  const planner::Attention& attention = group.attention;
  const int64_t queries = attention.query_width();
  const int64_t keys = attention.key_width();
  const int64_t hidden = model.hidden;
  const int64_t ffn = group.ffn.hidden;
  ParameterUnit unit;
  unit.push_back({.parts = {RowsOf(prefix + "q", queries, hidden, tp_rank, tp),
                            RowsOf(prefix + "k", keys, hidden, tp_rank, tp),
                            RowsOf(prefix + "v", keys, hidden, tp_rank, tp)}});
  unit.push_back({.parts = {ColumnsOf(prefix + "o", hidden, queries, tp_rank, tp)}});
  unit.push_back({.parts = {RowsOf(prefix + "gate", ffn, hidden, tp_rank, tp),
                            RowsOf(prefix + "up", ffn, hidden, tp_rank, tp)}});
  unit.push_back({.parts = {ColumnsOf(prefix + "down", hidden, ffn, tp_rank, tp)}});
  unit.push_back(Norm(prefix + "attention_norm", hidden));
  unit.push_back(Norm(prefix + "ffn_norm", hidden));
  if (attention.qk_norm) {
    unit.push_back(HeadNorm(prefix + "q_norm", attention.head_dim));
    unit.push_back(HeadNorm(prefix + "k_norm", attention.head_dim));
  }
  if (attention.qkv_bias) {
    // One column each, so that the parts stack into one vector.
    LocalParameter bias{.parts = {RowsOf(prefix + "q_bias", queries, 1, tp_rank, tp),
                                  RowsOf(prefix + "k_bias", keys, 1, tp_rank, tp),
                                  RowsOf(prefix + "v_bias", keys, 1, tp_rank, tp)},
                        .matrix = false};
    for (ParameterPart& part : bias.parts) part.initial = Initial::kZeros;
    unit.push_back(std::move(bias));
  }
  return unit;
}

ParameterUnit EmbeddingUnit(const planner::ModelSpec& model, int32_t tp_rank, int32_t tp) {
  return {{.parts = {RowsOf("embedding", model.vocab, model.hidden, tp_rank, tp)}}};
}

ParameterUnit HeadUnit(const planner::ModelSpec& model, int32_t tp_rank, int32_t tp) {
  if (model.tied_embeddings) return EmbeddingUnit(model, tp_rank, tp);
  return {{.parts = {RowsOf("head", model.vocab, model.hidden, tp_rank, tp)}}};
}

ParameterUnit FinalNormUnit(const planner::ModelSpec& model) { return {Norm("final_norm", model.hidden)}; }

int64_t UnitElements(const ParameterUnit& unit) {
  int64_t elements = 0;
  for (const LocalParameter& parameter : unit) elements += parameter.elements();
  return elements;
}

int64_t MatrixElements(const ParameterUnit& unit) {
  int64_t elements = 0;
  for (const LocalParameter& parameter : unit) {
    if (parameter.matrix) elements += parameter.elements();
  }
  return elements;
}

int64_t ReplicatedElements(const ParameterUnit& unit) {
  int64_t elements = 0;
  for (const LocalParameter& parameter : unit) {
    if (parameter.replicated) elements += parameter.elements();
  }
  return elements;
}

int64_t HeadNormElements(const ParameterUnit& unit) {
  int64_t elements = 0;
  for (const LocalParameter& parameter : unit) {
    if (parameter.of_heads) elements += parameter.elements();
  }
  return elements;
}

}  // namespace meshwright::worker
