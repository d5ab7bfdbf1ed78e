// Distributes heads of queries to blocks. A block has whole heads: its threads may overwrite a
// head's data once all of them have read what they need.
#pragma once

#include <algorithm>

#include "kernels/cuda/row_pieces.cuh"

namespace meshwright::kernels::cuda {

struct HeadPlace {
  uint32_t batch;
  uint32_t query;
  uint32_t head;
};

// A pack of a head.
struct HeadPack {
  HeadPlace place;
  uint32_t number;  // of the head within its block
  uint32_t pack;    // within the head
};

class HeadBlocks {
 public:
  // The number of heads of a block is chosen so that each thread has kThreadPacks packs. A block
  // has at least one head, and no more heads than threads.
  static constexpr int64_t kThreadPacks = 4;

  HeadBlocks(int64_t batch, int64_t queries, int64_t heads, int64_t packs_of_head)
      : heads_(batch * queries, heads),
        queries_(std::max<int64_t>(queries, 1)),
        packs_(packs_of_head),
        block_heads_(static_cast<uint32_t>(
            std::clamp<int64_t>(kThreads * kThreadPacks / packs_of_head, 1, kThreads))) {}

  dim3 Grid() const { return heads_.Grid(block_heads_); }

  // Returns the number of packs of the block's heads.
  __device__ uint32_t packs() const { return block_heads_ * packs_.divisor(); }
  // Finds head `number` of the block. Returns whether it exists.
  __device__ bool Find(uint32_t number, HeadPlace& found) const {
    RowPiece at;
    if (number >= block_heads_) return false;
    if (!heads_.Find(blockIdx.y, blockIdx.x * block_heads_ + number, at)) return false;
    const auto row = static_cast<uint32_t>(at.row);
    found.batch = queries_.Quotient(row);
    found.query = row - found.batch * queries_.divisor();
    found.head = static_cast<uint32_t>(at.piece);
    return true;
  }
  // Finds pack `pack` of the block, in [0, packs()). Returns whether it exists.
  __device__ bool Find(uint32_t pack, HeadPack& found) const {
    found.number = packs_.Quotient(pack);
    found.pack = pack - found.number * packs_.divisor();
    return Find(found.number, found.place);
  }

 private:
  RowPieces heads_;
  FastDivide queries_;
  FastDivide packs_;
  uint32_t block_heads_;
};

}  // namespace meshwright::kernels::cuda
