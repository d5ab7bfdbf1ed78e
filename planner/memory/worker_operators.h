// What operators of Meshwright's own worker take while they run, beside what their layer keeps.
// Bytes of one micro-batch on one rank; the table in planner/memory/worker_memory.h says how they
// add up. Of ATen's operators on a CPU they are exact; CUDA's round tensors up to 512 bytes, and
// take the scratch of planner/memory/cuda_attention.h. Products take nothing there: cuBLAS'
// workspace is held throughout, and counted with the layout (planner/memory/rank_memory.cc).
#pragma once

#include <cstdint>

#include "planner/memory/block_tensors.h"
#include "planner/memory/worker_stage.h"

namespace meshwright::planner {

// Elements of a bf16 matrix product that are computed at once on a CPU, at least one row.
inline constexpr int64_t kMatmulPieceElements = int64_t{1} << 20;

// Rows of a product of `rows` x `columns` that are computed at once.
int64_t MatmulPieceRows(int64_t rows, int64_t columns);

// An activation of all tokens of the hidden width; the residual stream's share of one.
int64_t HiddenBytes(const BlockDims& d);
int64_t StreamBytes(const BlockDims& d);
// Of the stream's gathered tokens, which are the stream itself without sequence parallel.
int64_t GatheredBytes(const BlockDims& d);
// How much more a gradient of all tokens takes than the stream's share of it.
int64_t GatheredGradientBytes(const BlockDims& d);
// One value per token: statistics; deviations of the stream's tokens.
int64_t PerTokenBytes(const BlockDims& d);
int64_t DeviationBytes(const BlockDims& d);
// Input of the FFN's second projection, and output of its first.
int64_t ProductBytes(const BlockDims& d);
int64_t GateUpBytes(const BlockDims& d);
// What attention keeps of a block that keeps all.
int64_t AttentionKeptBytes(const BlockDims& d);
int64_t HeadWidth(const WorkerShape& shape);  // columns of the logits

// Beside an activation, or its gradient, while it is computed as a product of `columns`.
int64_t ProjectionBytes(int64_t columns, const BlockDims& d);
// The result of a projection back to the stream, and what its computation takes beside.
int64_t LeaveBytes(const BlockDims& d);
// The same where work that takes `beside_bytes` runs while it leaves.
int64_t LeaveBesideBytes(const BlockDims& d, int64_t beside_bytes);
// The FFN's first projection: its result and what its computation takes beside.
int64_t GateUpForwardBytes(const BlockDims& d);

// Of a whole backward, beyond what is kept and the incoming gradient: the FFN's, attention's and
// the head's.
int64_t FfnGradientBytes(const BlockDims& d);
int64_t AttentionGradientBytes(const WorkerShape& shape);
int64_t HeadGradientBytes(const WorkerShape& shape);
// The same of the input part of a split one: the FFN's product gradient, then its input's;
// attention's gradient of its output, normed heads and the kernel's gradients, then its input's.
int64_t FfnInputGradientBytes(const BlockDims& d);
int64_t AttentionInputGradientBytes(const WorkerShape& shape);
// Of the weight part, beyond what the input part leaves.
int64_t FfnWeightGradientBytes(const BlockDims& d);
int64_t AttentionWeightGradientBytes(const BlockDims& d);
int64_t HeadWeightGradientBytes(const WorkerShape& shape);

}  // namespace meshwright::planner
