// What the worker is expected to hold on CUDA, beside what it holds on a CPU as well.
#include <gtest/gtest.h>

#include <algorithm>

#include "planner/memory/rank_memory.h"
#include "planner/worker_memory/attention_scratch.h"
#include "planner/worker_memory/communicators.h"
#include "planner/worker_memory/worker_attention.h"
#include "planner/worker_memory/worker_block.h"
#include "planner/worker_memory/worker_matmul.h"
#include "tests/planner/plain_context.h"

namespace meshwright::planner {
namespace {

// A block of Llama 3.2 1B at 4,096 tokens.
WorkerShape CudaShapeOf(int64_t element_bytes) {
  return {.block = {.tokens = 4096,
                    .hidden = 2048,
                    .heads = 32,
                    .kv_heads = 8,
                    .head_dim = 64,
                    .ffn_hidden = 8192,
                    .element_bytes = element_bytes,
                    .cpu_operators = false,
                    .keys = 4096,
                    .vocab = 128256}};
}

TEST(CudaAttention, FlashSumsTheQueriesGradientInFp32AndExpandsThoseOfSharedKeys) {
  const WorkerShape shape = CudaShapeOf(2);
  constexpr int64_t kSums = int64_t{32} * 4096 * 4;
  constexpr int64_t kQueryGradient = int64_t{4096} * 32 * 64 * 4;
  constexpr int64_t kExpanded = int64_t{2} * 4096 * 32 * 64 * 2;
  EXPECT_EQ(CudaAttentionScratchBytes(shape, 4096, 4096), kSums + kQueryGradient + kExpanded);
  WorkerShape multi_head = shape;
  multi_head.block.kv_heads = 32;
  EXPECT_EQ(CudaAttentionScratchBytes(multi_head, 4096, 4096), kSums + kQueryGradient);
}

TEST(CudaAttention, FlashRoundsQueriesAndHeadsUp) {
  WorkerShape shape = CudaShapeOf(2);
  shape.block.kv_heads = 32;
  shape.block.tokens = int64_t{2} * 100;
  shape.block.keys = 100;
  shape.block.head_dim = 80;
  EXPECT_EQ(CudaAttentionScratchBytes(shape, 100, 100), 2 * 32 * 128 * 4 * (1 + 96));
  shape.block.head_dim = 136;
  EXPECT_EQ(CudaAttentionScratchBytes(shape, 100, 100), 2 * 32 * 128 * 4 * (1 + 192));
}

TEST(CudaAttention, TensorParallelRanksShareIt) {
  WorkerShape shape = CudaShapeOf(2);
  const int64_t all = CudaAttentionScratchBytes(shape, 4096, 4096);
  shape.block.tp = 8;
  EXPECT_EQ(CudaAttentionScratchBytes(shape, 4096, 4096), all / 8);
}

// One head of each group in a call.
TEST(CudaAttention, Fp32MultipliesOutputsAndGradientsOutOfPlace) {
  EXPECT_EQ(CudaAttentionScratchBytes(CudaShapeOf(4), 4096, 4096), 8 * 4096 * 4 * (1 + 64 + 1));
}

TEST(WorkerOnCuda, AttentionsBackwardHoldsTheKernelsGradientsAndScratch) {
  const WorkerShape shape = CudaShapeOf(2);
  constexpr int64_t kHidden = int64_t{4096} * 2048 * 2;
  constexpr int64_t kQuery = int64_t{4096} * 32 * 64 * 2;
  constexpr int64_t kKey = int64_t{4096} * 8 * 64 * 2;
  // The gradients of the block's input and of attention's output; the kernel's.
  EXPECT_EQ(BlockBytes(shape, {}).input.attention.workspace,
            kHidden + kQuery + kQuery + 2 * kKey + CudaAttentionScratchBytes(shape, 4096, 4096));
}

int64_t AttentionWorkspace(const WorkerShape& shape) {
  return BlockBytes(shape, {}).input.attention.workspace;
}

// The kernel knows windows, and sees the whole sequence at once.
TEST(WorkerOnCuda, AWindowTakesWhatAllKeysDo) {
  WorkerShape shape = CudaShapeOf(2);
  const int64_t all = AttentionWorkspace(shape);
  shape.block.window = 1024;
  EXPECT_EQ(AttentionWorkspace(shape), all);
}

// Sums of the keys' gradients in fp32, and those of one chunk.
TEST(WorkerOnCuda, ChunksComeOneAfterAnother) {
  WorkerShape shape = CudaShapeOf(2);
  shape.block.window = 1024;
  shape.block.chunked = true;
  constexpr int64_t kHidden = int64_t{4096} * 2048 * 2;
  constexpr int64_t kQuery = int64_t{4096} * 32 * 64 * 2;
  constexpr int64_t kKey = int64_t{4096} * 8 * 64 * 2;
  // The gradients of the block's input and of attention's output come in.
  EXPECT_EQ(AttentionWorkspace(shape),
            kHidden + kQuery + int64_t{2} * 2 * kKey + kQuery +
                std::max((kQuery + 2 * kKey) / 4 + CudaAttentionScratchBytes(shape, 1024, 1024),
                         2 * kKey));
}

WorkerShape CudaLatentShape(int64_t element_bytes) {
  WorkerShape shape = CudaShapeOf(element_bytes);
  BlockShape& block = shape.block;
  block.kv_heads = 32;
  block.head_dim = 96;
  block.attention_kind = AttentionKind::kLatent;
  block.query_rank = 512;
  block.kv_rank = 256;
  block.rotary_dim = 32;
  block.value_dim = 64;
  block.keeps_assembled_keys = false;
  return shape;
}

// Of keys that are put together; values, output and its gradient filled up to their width.
TEST(WorkerOnCuda, FlashAttentionFillsLatentAttentionsValuesUp) {
  const WorkerShape shape = CudaLatentShape(2);
  constexpr int64_t kKeys = int64_t{4096} * 32 * 96 * 2;
  EXPECT_EQ(AttentionGradientBytes(shape),
            kKeys + 3 * kKeys + 3 * kKeys + CudaAttentionScratchBytes(shape, 4096, 4096));
}

TEST(WorkerOnCuda, OtherKernelsTakeLatentAttentionsValuesAsTheyAre) {
  constexpr int64_t kTokenHeads = int64_t{4096} * 32;
  WorkerShape cudnn = CudaLatentShape(2);
  cudnn.block.attention = AttentionKernel::kCudnn;
  EXPECT_EQ(AttentionGradientBytes(cudnn),
            kTokenHeads * 2 * (96 + 2 * 96 + 64) + CudaAttentionScratchBytes(cudnn, 4096, 4096));
  const WorkerShape fp32 = CudaLatentShape(4);
  EXPECT_EQ(CudaAttentionScratchBytes(fp32, 4096, 4096), kTokenHeads * 4 * (1 + 64 + 1));
  EXPECT_EQ(AttentionGradientBytes(fp32),
            kTokenHeads * 4 * (96 + 2 * 96 + 64) + CudaAttentionScratchBytes(fp32, 4096, 4096));
}

TEST(WorkerOnCuda, ProductsTakeNothingBeside) {
  BlockShape shape = CudaShapeOf(2).block;
  EXPECT_EQ(MatmulBytes(4096, 2048, shape), 0);
  shape.cpu_operators = true;
  EXPECT_GT(MatmulBytes(4096, 2048, shape), 0);
}

TEST(WorkerOnCuda, HoldsTheWorkspaceOfMatmulsThroughout) {
  TestContext context = MakeContext("llama-3.2-1b", "h100", 4096, 8, "meshwright");
  const Layout layout = MakeLayout("tp1.pp2.dp1");
  const auto with = EstimateAllocatorBytes(context.get(), layout);
  EXPECT_EQ(context.cluster.device.matmul_workspace_bytes, 32 << 20);
  context.cluster.device.matmul_workspace_bytes = 0;
  const auto without = EstimateAllocatorBytes(context.get(), layout);
  EXPECT_EQ(with[0] - without[0], 32 << 20);
  EXPECT_EQ(with[1] - without[1], 32 << 20);
}

TEST(WorkerOnCuda, OtherFrameworksFiguresAreFittedAndStay) {
  TestContext context = MakeContext("llama-3-8b", "h100", 4096, 8, "megatron");
  const Layout layout = MakeLayout("tp2.pp2.dp2.vpp2.sched=interleaved");
  const MemoryEstimate before = EstimateMemory(context.get(), layout);
  EXPECT_EQ(before.overhead_bytes,
            context.cluster.device.context_bytes + 3 * context.cluster.device.communicator_bytes);
  context.cluster.device.matmul_workspace_bytes = 0;
  context.cluster.device.point_to_point_communicator_bytes = 1;
  EXPECT_EQ(EstimateMemory(context.get(), layout), before);
}

TEST(Communicators, AreThoseThatTheLayoutOpens) {
  const auto open = [](const char* layout, bool tied = false, int32_t pipeline_rank = 0) {
    return CommunicatorsOf(MakeLayout(layout), {.tied_embeddings = tied}, pipeline_rank);
  };
  EXPECT_EQ(open("tp1.pp1.dp1"), OpenCommunicators());
  // The world and the axis.
  EXPECT_EQ(open("tp2.pp1.dp1"), (OpenCommunicators{.collective = 2}));
  // Context parallel ranks hold the same parameters; their ring carries messages.
  EXPECT_EQ(open("tp1.cp2.pp1.dp1"), (OpenCommunicators{.collective = 2, .point_to_point = 1}));
  EXPECT_EQ(open("tp1.pp2.dp1"), (OpenCommunicators{.collective = 1, .point_to_point = 2}));
  EXPECT_EQ(open("tp2.cp2.pp2.dp2.vpp2.sched=interleaved"),
            (OpenCommunicators{.collective = 3, .point_to_point = 5}));
  // A rank between two others has lanes with both; a V passes each pair of ranks twice.
  EXPECT_EQ(open("tp1.pp3.dp1", false, 1).point_to_point, 4);
  EXPECT_EQ(open("tp1.pp3.dp1.vpp2.sched=zb_v", false, 0).point_to_point, 4);
  EXPECT_EQ(open("tp1.pp3.dp1.vpp2.sched=zb_v", false, 1).point_to_point, 8);
  // Copies of tied embeddings at both ends, but not between them, nor where the ends meet.
  EXPECT_EQ(open("tp1.pp3.dp1", true, 0).collective, 2);
  EXPECT_EQ(open("tp1.pp3.dp1", true, 1).collective, 1);
  EXPECT_EQ(open("tp1.pp3.dp1", true, 2).collective, 2);
  EXPECT_EQ(open("tp1.pp2.dp1.vpp2.sched=zb_v", true, 0).collective, 1);
}

TEST(Communicators, HoldWhatTheClusterSaysOfEachKind) {
  TestContext context = MakeContext("llama-3.2-1b", "h100", 4096, 8, "meshwright");
  HardwareProfile& device = context.cluster.device;
  device.communicator_bytes = 1000;
  device.point_to_point_communicator_bytes = 100;
  const Layout layout = MakeLayout("tp2.pp3.dp1");
  // The world, tensor parallel, and for the tied embeddings' copies the ends; lanes to one
  // neighbour or to two.
  EXPECT_EQ(EstimateCommunicatorBytes(context.get(), layout),
            (std::vector<int64_t>{3200, 2400, 3200}));
  EXPECT_EQ(EstimateRankMemory(context.get(), layout, 1).overhead_bytes,
            device.context_bytes + 2400);
}

}  // namespace
}  // namespace meshwright::planner
