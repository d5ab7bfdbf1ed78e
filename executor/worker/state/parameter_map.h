// A ParameterUnit lists the parts of one unit's parameters that a rank holds, in their order.
//
// All functions here are pure functions of model, layout and coordinates. The parameters are those
// of the operators in planner/block/block.h. They are grouped in units: the embedding, a layer
// without its experts, a layer's experts, the final norm, the head. Each unit has its own flat
// buffers. In a unit, matrices come first, then parameters of routers and norms, and then other
// vectors. AdamW decays only matrices and routers.
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
  // If true, every TP rank (for experts, every rank of expert tensor parallelism) holds the whole
  // parameter. This is so for norms, routers, biases of row-parallel products, and down projections
  // to latents.
  bool replicated = false;
  bool of_block_product = false;  // planner/block/matrices.h lists its parts
  bool of_experts = false;        // belongs to a layer's experts
  // If true, the parameter is a router's weight [experts, hidden], which is equal on every TP rank
  // and doesn't count as a matrix.
  bool of_router = false;
  // If true, the parameter's gradient on one rank is partial. This is so for vectors of norms and
  // biases of routers, which a rank applies only to its share of the stream's tokens or of the
  // heads.
  bool partial_gradient = false;
  bool of_heads = false;  // whether it is a partial vector of norms of heads

  int64_t rows() const;
  int64_t columns() const { return parts.front().columns; }
  int64_t elements() const { return rows() * columns(); }
};

using ParameterUnit = std::vector<LocalParameter>;

// Indices of matrices in the units of a layer, its experts, the embedding and the head.
enum LayerParameter : uint8_t { kQkvWeight, kOutputWeight, kGateUpWeight, kDownWeight };
enum ExpertParameter : uint8_t { kExpertGateUpWeight, kExpertDownWeight };
enum EmbeddingParameter : uint8_t { kEmbeddingTable };
enum HeadParameter : uint8_t { kHeadWeight };

// The index of a parameter that a unit does not have.
inline constexpr size_t kNowhere = static_cast<size_t>(-1);
// Indices of an operator's vectors in a unit. Norms of heads and of latents may have two weights:
// the weight for keys then follows the weight for queries. For attention, `weight` is its sinks.
struct VectorPositions {
  size_t weight = kNowhere;  // of a norm
  size_t bias = kNowhere;
};
VectorPositions VectorsOf(const ParameterUnit& unit, planner::OperatorName of);
// Returns the index of an operator's matrix, or kNowhere if the operator has none.
size_t MatrixOf(const ParameterUnit& unit, planner::OperatorName of);

// Returns the parameters of a layer without its experts. Matrices are [outputs, inputs].
// Column-parallel weights (qkv, gate, up, embedding, head) are divided by rows, row-parallel
// weights (output, down) by columns.
ParameterUnit LayerUnit(const planner::ModelSpec& model, int64_t layer, int32_t tp_rank,
                        int32_t tp);
// The experts of a layer that a rank holds, and the part of each of these experts.
struct ExpertPlace {
  int32_t ep_rank = 0;
  int32_t ep = 1;
  int32_t etp_rank = 0;
  int32_t etp = 1;
};
// Returns the parameters of a layer's experts, or an empty unit if the layer has no experts. Each
// array stacks the parts of all experts. The gate and up weights of an expert are adjacent, and so
// are their biases.
ParameterUnit ExpertUnit(const planner::ModelSpec& model, int64_t layer, const ExpertPlace& place);
ParameterUnit EmbeddingUnit(const planner::ModelSpec& model, int32_t tp_rank, int32_t tp);
// Returns the output projection. It is laid out like the embedding's unit, so that with tied
// embeddings the copies of the table on two ranks match.
ParameterUnit HeadUnit(const planner::ModelSpec& model, int32_t tp_rank, int32_t tp);
ParameterUnit FinalNormUnit(const planner::ModelSpec& model);

int64_t UnitElements(const ParameterUnit& unit);
// The following functions count elements of a unit's consecutive ranges. The first MatrixElements()
// belong to matrices; every TP rank holds the last WholeMatrixElements() of these. Then come the
// ReplicatedElements(): first RouterElements(), then PartialElements(), whose gradients are
// partial. The last HeadNormElements() of the elements with partial gradients belong to norms of
// heads.
int64_t MatrixElements(const ParameterUnit& unit);
// Returns the number of elements of routers and of the matrices that MatricesOf()
// (planner/block/matrices.h) lists. These matrices come first.
int64_t BlockMatrixElements(const ParameterUnit& unit);
int64_t WholeMatrixElements(const ParameterUnit& unit);
int64_t ReplicatedElements(const ParameterUnit& unit);
int64_t RouterElements(const ParameterUnit& unit);
int64_t PartialElements(const ParameterUnit& unit);
int64_t HeadNormElements(const ParameterUnit& unit);

}  // namespace meshwright::worker
