// Determines which parts of the model's parameters a rank holds, and in which order.
//
// Pure functions of (model, layout, coordinates): the parameters are those of the operators in
// planner/block/block.h. A unit (the embedding, a layer, the final norm, the head) is the granule
// of flat buffers: matrices come first, then parameters of routers and norms, then other vectors. A
// layer's experts are a unit of their own. AdamW decays only matrices and routers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "executor/worker/comm/coordinates.h"
#include "planner/block/operator.h"
#include "planner/block/stage_partition.h"
#include "planner/spec/model_spec.h"

namespace meshwright::worker {

enum class Initial : uint8_t { kNormal, kOnes, kZeros };

// Rows [row_begin, row_begin + rows) and columns [column_begin, column_begin + columns) of the
// model's parameter `name`, whose shape is [global_rows, global_columns]. A vector has one row.
struct ParameterPart {
  std::string name;
  int64_t global_rows = 0;
  int64_t global_columns = 0;
  int64_t row_begin = 0;
  int64_t column_begin = 0;
  int64_t rows = 0;
  int64_t columns = 0;
  Initial initial = Initial::kNormal;
};

// One dense local array: a stack of parts of equal width.
struct LocalParameter {
  std::vector<ParameterPart> parts;
  planner::OperatorName of = planner::OperatorName::kEmbedding;
  bool matrix = true;
  bool bias = false;  // of a product or a norm
  // Held whole by every TP rank: norms, biases of row parallel products, and down projections to
  // latents. For experts: by every rank of their tensor parallelism.
  bool replicated = false;
  bool of_block_product = false;  // its parts are in planner/block/matrices.h
  bool of_experts = false;        // divided over expert tensor parallelism
  // [experts, hidden], equal on every TP rank; not counted among the matrices
  bool of_router = false;
  // A vector that a rank applies only to its share of the stream's tokens or heads, so its gradient
  // is partial: of a norm, or a router's bias.
  bool partial_gradient = false;
  bool of_heads = false;  // a partial one that belongs to norms of heads

  int64_t rows() const;
  int64_t columns() const { return parts.front().columns; }
  int64_t elements() const { return rows() * columns(); }
};

using ParameterUnit = std::vector<LocalParameter>;

// Indices of the matrices that every layer has in its unit, and in units of one matrix.
enum LayerParameter : uint8_t { kQkvWeight, kOutputWeight, kGateUpWeight, kDownWeight };
enum ExpertParameter : uint8_t { kExpertGateUpWeight, kExpertDownWeight };
enum EmbeddingParameter : uint8_t { kEmbeddingTable };
enum HeadParameter : uint8_t { kHeadWeight };

// Indices of an operator's vectors in a unit. Norms of heads and of latents may have two weights,
// the keys' following the queries'; attention's weight is its sinks.
inline constexpr size_t kNowhere = static_cast<size_t>(-1);
struct VectorPositions {
  size_t weight = kNowhere;  // of a norm
  size_t bias = kNowhere;
};
VectorPositions VectorsOf(const ParameterUnit& unit, planner::OperatorName of);
// Returns the index of an operator's matrix; kNowhere where it has none.
size_t MatrixOf(const ParameterUnit& unit, planner::OperatorName of);

// Matrices are [outputs, inputs]. Column parallel weights (qkv, gate, up, embedding, head) are
// divided by rows, row parallel ones (output, down) by columns.
ParameterUnit LayerUnit(const planner::ModelSpec& model, int64_t layer, int32_t tp_rank,
                        int32_t tp);
// Which of a layer's experts a rank holds, and which part of each.
struct ExpertPlace {
  int32_t ep_rank = 0;
  int32_t ep = 1;
  int32_t etp_rank = 0;
  int32_t etp = 1;
};
// Each expert's gate and up are adjacent, as are their biases; experts follow each other. Empty
// where the layer has no experts.
ParameterUnit ExpertUnit(const planner::ModelSpec& model, int64_t layer, const ExpertPlace& place);
ParameterUnit EmbeddingUnit(const planner::ModelSpec& model, int32_t tp_rank, int32_t tp);
// The output projection. Laid out like the embedding's unit, so that with tied embeddings two
// ranks' copies of the table match.
ParameterUnit HeadUnit(const planner::ModelSpec& model, int32_t tp_rank, int32_t tp);
ParameterUnit FinalNormUnit(const planner::ModelSpec& model);

int64_t UnitElements(const ParameterUnit& unit);
// These count elements in the unit's order. Matrices come first; the last WholeMatrixElements() of
// them are held whole by every TP rank. ReplicatedElements() follow: first RouterElements(), then
// PartialElements() whose gradients are partial, the last HeadNormElements() of which are of norms
// of heads.
int64_t MatrixElements(const ParameterUnit& unit);
// Elements of the matrices that MatricesOf() (planner/block/matrices.h) lists, and of routers; they
// come first.
int64_t BlockMatrixElements(const ParameterUnit& unit);
int64_t WholeMatrixElements(const ParameterUnit& unit);
int64_t ReplicatedElements(const ParameterUnit& unit);
int64_t RouterElements(const ParameterUnit& unit);
int64_t PartialElements(const ParameterUnit& unit);
int64_t HeadNormElements(const ParameterUnit& unit);

}  // namespace meshwright::worker
