// OperatorBuilder assembles lists of operators. It has the helpers that blocks, the embedding and
// the head share.
#pragma once

#include <cstdint>
#include <string_view>

#include "planner/block/block_shape.h"
#include "planner/block/operator.h"

namespace meshwright::planner {

// Traffic of a fused norm in bytes per element of 2 bytes: it reads every input once and writes
// every output once.
inline constexpr double kFusedNormForward = 4.0;
inline constexpr double kFusedNormBackward = 6.0;

// Returns a vector that every rank holds whole.
OperatorParameter Vector(std::string_view name, int64_t size);
// Returns a matrix that every rank holds whole.
OperatorParameter Whole(std::string_view name, int64_t rows, int64_t columns);
// Returns the matrix of a column-parallel projection, divided by its rows, which are the outputs.
OperatorParameter Rows(std::string_view name, int64_t rows, int64_t rank_rows, int64_t columns);
// Returns the bias of a column-parallel projection, divided like the rows of its matrix.
OperatorParameter Bias(std::string_view name, int64_t size, int64_t rank_size);
// Returns the matrix of a row-parallel projection, divided by its columns, which are the inputs.
OperatorParameter Columns(std::string_view name, int64_t rows, int64_t columns,
                          int64_t rank_columns);

// Appends operators to a list. REQUIRES: the list and the shape outlive the builder.
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
  // Saves the quantised copy of a product's input for the weight gradient of `product`. Does
  // nothing unless Meshwright's worker quantises. In the worker, the operator that makes the input
  // also makes the copy. In other frameworks, the product itself makes and saves the copy.
  void SaveNarrowed(Operator& op, KeptTensor tensor, int64_t bytes, OperatorName product) const;
  // Makes `norm` the norm of `inputs` concatenated hidden states.
  void Norm(Operator& norm, std::string_view weight, std::string_view bias, double forward_bytes,
            double backward_bytes, int64_t inputs = 1);
  void SaveForNorm(Operator& norm, KeptTensor residual, KeptTensor rstd);
  void SaveStatistics(Operator& norm, KeptTensor rstd);
  // Adds a product over all tokens. `outputs` and `inputs` are the dimensions of the rank's part of
  // the matrix.
  Operator& Matmul(OperatorName name, int64_t outputs, int64_t inputs);
  // Adds a product of the block. If the product is quantised, separate kernels make the quantised
  // copies: forward reads the input and writes one copy; backward reads the gradient and writes
  // two.
  Operator& Projection(OperatorName name, int64_t outputs, int64_t inputs);
  // Marks a product over `rows` tokens as quantised and adds the traffic of quantising its factors.
  // Does nothing if the shape is not quantised.
  void Narrow(Operator& op, int64_t rows) const;
  // Returns the bytes that are kept of an input [rows, width] that is read by only one product, or
  // by `groups` products that divide its rows.
  int64_t KeptInputBytes(int64_t rows, int64_t width, int64_t groups = 1) const;
  // Returns the traffic of the FFN's activation, forward and backward.
  StreamShape ActivationStream(int64_t elements) const;
  // Returns the number of kept rows of the norm output that a column-parallel product reads: the
  // rank's share, or all tokens if gathered inputs are kept.
  int64_t NormOutputRows() const;
  int64_t NormOutputBytes() const { return NormOutputRows() * s_.hidden * s_.element_bytes; }
  void Collective(Operator& op, PassKind pass, CollectiveKind kind, int64_t bytes,
                  bool behind_compute = false);
  OperatorList& operators() { return operators_; }
  // Adds the entry to column-parallel products. With sequence parallelism (Korthikanti et al.,
  // arXiv 2205.05198) it gathers tokens in forward and scatters their gradients in backward. For
  // the weight gradient it gathers the tokens again, hidden behind another product. Without
  // sequence parallelism only backward communicates: it adds up the gradients of all ranks.
  void Enter(OperatorName name) { Enter(name, hidden_bytes_); }
  void Enter(OperatorName name, int64_t bytes);
  // Adds the entry to a product of the block. If the worker keeps the input quantised, the
  // quantised numbers and their scales are gathered for the weight gradient.
  void EnterProjection(OperatorName name);
  // Adds the exit from row-parallel products, the reverse of Enter().
  void Leave(OperatorName name);
  void Gather(Operator& op, PassKind pass, int64_t bytes, bool behind_compute = false);
  void Scatter(Operator& op, PassKind pass, int64_t bytes);

  const BlockShape& s_;
  const int64_t hidden_bytes_;  // bytes of an activation of all tokens
  const int64_t stream_bytes_;  // bytes of the rank's share of the residual stream
  const int64_t stream_elements_;

 private:
  OperatorList& operators_;
};

}  // namespace meshwright::planner
