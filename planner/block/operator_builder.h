// OperatorBuilder assembles lists of operators; it holds what a block and a model's ends have in
// common.
#pragma once

#include <cstdint>
#include <string_view>

#include "planner/block/block_shape.h"
#include "planner/block/operator.h"

namespace meshwright::planner {

// Traffic in bytes per element of 2 bytes, of a fused norm: every input read once, every output
// written once.
inline constexpr double kFusedNormForward = 4.0;
inline constexpr double kFusedNormBackward = 6.0;

OperatorParameter Vector(std::string_view name, int64_t size);
// Rows [outputs] of a column-parallel projection, and its bias.
OperatorParameter Rows(std::string_view name, int64_t rows, int64_t rank_rows, int64_t columns);
OperatorParameter Bias(std::string_view name, int64_t size, int64_t rank_size);
// Columns [inputs] of a row-parallel projection.
OperatorParameter Columns(std::string_view name, int64_t rows, int64_t columns,
                          int64_t rank_columns);

// Appends to a list. The list and the shape must outlive it.
class OperatorBuilder {
 public:
  OperatorBuilder(const BlockShape& shape, OperatorList& operators)
      : s_(shape),
        hidden_bytes_(s_.tokens * s_.hidden * s_.element_bytes),
        stream_bytes_(hidden_bytes_ / s_.stream_ranks()),
        stream_elements_(s_.tokens * s_.hidden / s_.stream_ranks()),
        operators_(operators) {}

 protected:
  static constexpr PassKind kForward = PassKind::kForward;
  static constexpr PassKind kInputGradient = PassKind::kInputGradient;
  static constexpr PassKind kWeightGradient = PassKind::kWeightGradient;

  Operator& Add(OperatorName name, OperatorKind kind);
  static void Save(Operator& op, KeptTensor tensor, int64_t bytes, OperatorName freed_by,
                   PassKind freed_in);
  // Saves the narrowed copy of a product's input for the weight gradient of `product`. In
  // Meshwright's worker the operator that makes the input also makes the copy; in frameworks the
  // product does, and saves it.
  void SaveNarrowed(Operator& op, KeptTensor tensor, int64_t bytes, OperatorName product) const;
  void Norm(Operator& norm, std::string_view weight, std::string_view bias, double forward_bytes,
            double backward_bytes);
  void SaveForNorm(Operator& norm, KeptTensor residual, KeptTensor rstd);
  void SaveStatistics(Operator& norm, KeptTensor rstd);
  // Column-parallel products read all tokens; each rank computes its own columns.
  Operator& Matmul(OperatorName name, int64_t outputs, int64_t inputs);
  // A product of the block. Its inputs are narrowed by separate kernels: forward reads the input
  // and writes the copy, backward makes two copies of its gradient.
  Operator& Projection(OperatorName name, int64_t outputs, int64_t inputs);
  // Adds to a product over `rows` tokens the traffic of narrowing its inputs.
  void Narrow(Operator& op, int64_t rows) const;
  // Returns the bytes kept of an input [rows, width] that only a product reads, or `groups`
  // products that divide its rows.
  int64_t KeptInputBytes(int64_t rows, int64_t width, int64_t groups = 1) const;
  // Returns the traffic of the FFN's activation, forward and backward.
  StreamShape ActivationStream(int64_t elements) const;
  // Returns the rows of a column-parallel product's normed input; the worker keeps the rank's share
  // of it.
  int64_t NormOutputRows() const;
  int64_t NormOutputBytes() const { return NormOutputRows() * s_.hidden * s_.element_bytes; }
  void Collective(Operator& op, PassKind pass, CollectiveKind kind, int64_t bytes,
                  bool behind_compute = false);
  OperatorList& operators() { return operators_; }
  // With sequence parallel (Korthikanti et al., arXiv 2205.05198) tokens are gathered on entry, and
  // again for the weight gradient, behind the product of the previous one; without it only backward
  // communicates, to add up the gradients of all ranks.
  void Enter(OperatorName name) { Enter(name, hidden_bytes_); }
  void Enter(OperatorName name, int64_t bytes);
  // The entry to a product of the block. Where the worker keeps the input narrowed, numbers and
  // scales are gathered for the weight gradient.
  void EnterProjection(OperatorName name);
  // The reverse of Enter().
  void Leave(OperatorName name);
  void Gather(Operator& op, PassKind pass, int64_t bytes, bool behind_compute = false);
  void Scatter(Operator& op, PassKind pass, int64_t bytes);

  const BlockShape& s_;
  const int64_t hidden_bytes_;  // an activation of all tokens
  const int64_t stream_bytes_;  // the rank's share of the residual stream
  const int64_t stream_elements_;

 private:
  OperatorList& operators_;
};

}  // namespace meshwright::planner
