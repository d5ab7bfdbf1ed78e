// Which part of which of the model's parameters a rank holds, and in which order.
//
// Pure functions of (model, layout, coordinates): the parameters of the operators of
// planner/block/block.h. A unit (the embedding, a layer, the final norm, the head) is the granule
// of flat buffers: its matrices come first, then what routers and norms have, then other vectors. A
// layer's experts are a unit of their own. AdamW decays matrices and routers alone.
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
// model's parameter `name` of shape [global_rows, global_columns]. A vector has one row.
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

// One dense local array: parts of equal width, stacked.
struct LocalParameter {
  std::vector<ParameterPart> parts;
  planner::OperatorName of = planner::OperatorName::kEmbedding;
  bool matrix = true;
  bool bias = false;  // of a product, or of a norm
  // Every TP rank holds it whole: norms, biases of row parallel products, and the way down to
  // latents. Of experts, every rank of their tensor parallel.
  bool replicated = false;
  bool of_block_product = false;  // planner/block/matrices.h lists its parts
  bool of_experts = false;        // divided over their tensor parallelism
  bool of_router = false;  // [experts, hidden], the same on every TP rank; not among the matrices
  // A vector that a rank uses for its share of the stream's tokens, or for its heads: of a norm, or
  // a router's bias.
  bool partial_gradient = false;
  bool of_heads = false;  // of these, those of norms of heads

  int64_t rows() const;
  int64_t columns() const { return parts.front().columns; }
  int64_t elements() const { return rows() * columns(); }
};

using ParameterUnit = std::vector<LocalParameter>;

// Positions of the matrices that every layer has in its unit, and in those of one matrix.
enum LayerParameter : uint8_t { kQkvWeight, kOutputWeight, kGateUpWeight, kDownWeight };
enum ExpertParameter : uint8_t { kExpertGateUpWeight, kExpertDownWeight };
enum EmbeddingParameter : uint8_t { kEmbeddingTable };
enum HeadParameter : uint8_t { kHeadWeight };

// Positions of the vectors that an operator has in a unit. The weights of the norms of heads and of
// latents may be two, the keys' behind the queries'; attention's are its sinks.
inline constexpr size_t kNowhere = static_cast<size_t>(-1);
struct VectorPositions {
  size_t weight = kNowhere;  // a norm's
  size_t bias = kNowhere;
};
VectorPositions VectorsOf(const ParameterUnit& unit, planner::OperatorName of);
// Position of an operator's matrix; kNowhere where it has none.
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
// An expert's gate and up stand together, and so do their biases, and experts one behind the other.
// Empty where the layer has none.
ParameterUnit ExpertUnit(const planner::ModelSpec& model, int64_t layer, const ExpertPlace& place);
ParameterUnit EmbeddingUnit(const planner::ModelSpec& model, int32_t tp_rank, int32_t tp);
// The output projection. With tied embeddings it is the embedding's unit, so that copies of the
// table on two ranks are laid out alike.
ParameterUnit HeadUnit(const planner::ModelSpec& model, int32_t tp_rank, int32_t tp);
ParameterUnit FinalNormUnit(const planner::ModelSpec& model);

int64_t UnitElements(const ParameterUnit& unit);
// The first so many of them are matrices', of which the last so many are those that every TP rank
// holds whole, and so many after these replicated ones'. Of these the first so many are routers',
// then so many those whose gradients are
// partial, of which the last so many are those of norms of heads.
int64_t MatrixElements(const ParameterUnit& unit);
// With routers, those that MatricesOf() (planner/block/matrices.h) lists; they come first.
int64_t BlockMatrixElements(const ParameterUnit& unit);
int64_t WholeMatrixElements(const ParameterUnit& unit);
int64_t ReplicatedElements(const ParameterUnit& unit);
int64_t RouterElements(const ParameterUnit& unit);
int64_t PartialElements(const ParameterUnit& unit);
int64_t HeadNormElements(const ParameterUnit& unit);

}  // namespace meshwright::worker
