// VHalfBlock is the building block of V-Half (arXiv 2405.15362), which repeats for every
// micro-batch: the ticks at which a rank runs the passes of the micro-batch. A tick is the time of
// one pass of a chunk, if F = B = W.
//
// The block takes kTicks ticks of a rank, three passes for each of its two chunks. From one rank to
// the next, a forward or a backward moves in two ticks in the arm of the V that it enters first,
// and in one tick in the other arm. The lifetimes of a micro-batch in the two chunks of a rank then
// add up to 6p ticks. As a micro-batch begins every 6 ticks, about p chunks are in flight: those of
// p / 2 micro-batches. The paper leaves the offsets at the turns of the V open. The offsets here
// are the smallest for which no two passes of a rank fall on the same tick.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "planner/layout/layout.h"

namespace meshwright::planner {

class VHalfBlock {
 public:
  // The value of `rounds_of_loss` for v_half_vocab1: one block for each of the head's two passes.
  static constexpr int32_t kVocabularyRounds = 2;
  static constexpr int64_t kTicks = 6;

  // The ticks at which the passes of a chunk begin. The passes of micro-batch i begin i * kTicks
  // later.
  struct Chunk {
    int64_t forward = 0;
    int64_t input = 0;
    int64_t weight = 0;
  };

  // `rounds_of_loss` is the number of blocks by which the backward waits for the loss.
  // REQUIRES: 0 <= rank < pipeline_ranks.
  constexpr VHalfBlock(int32_t pipeline_ranks, int32_t rank, int32_t rounds_of_loss = 0) {
    const int64_t above = pipeline_ranks - 1 - rank;  // ranks from this one to the turn of the V
    const int64_t last = pipeline_ranks - 1;
    // With an even number of ranks, the forward waits three ticks at its turn of the V, and the
    // backward one tick at its turn. With any number of ranks, the loss takes one tick.
    const bool even = pipeline_ranks % 2 == 0;
    const int64_t second = 2 * last + 1 + (even ? 3 : 0);  // forward of the second chunk, last rank
    loss_ = second + last + 1;  // the second chunk's forward on rank 0 ends
    const int64_t loss = loss_ + 1 + rounds_of_loss * kTicks;   // its backward, rank 0
    const int64_t turn = loss + 2 * last + 1 + (even ? 1 : 0);  // backward of the first, last rank
    chunks_[0].forward = 2 * rank;
    chunks_[1].forward = second + above;
    chunks_[1].input = loss + 2 * rank;
    chunks_[0].input = turn + above;
    std::array<bool, kTicks> taken = {};
    for (const Chunk& chunk : chunks_) {
      taken[static_cast<size_t>(chunk.forward % kTicks)] = true;
      taken[static_cast<size_t>(chunk.input % kTicks)] = true;
    }
    // A weight gradient takes the first free tick after its input gradient.
    for (Chunk* chunk : {&chunks_[1], &chunks_[0]}) {
      chunk->weight = chunk->input + 1;
      while (taken[static_cast<size_t>(chunk->weight % kTicks)]) ++chunk->weight;
      taken[static_cast<size_t>(chunk->weight % kTicks)] = true;
    }
  }

  const Chunk& chunk(int32_t chunk) const { return chunks_[static_cast<size_t>(chunk)]; }

  // Returns the tick at which the last stage's forward ends.
  int64_t loss() const { return loss_; }

  // Returns how many of the first `micro_batches` micro-batches are in flight in a chunk at a tick:
  // their forward has begun, and their weight gradient is not done.
  int64_t InFlight(int32_t of_chunk, int64_t tick, int64_t micro_batches) const {
    const Chunk& ticks = chunk(of_chunk);
    return Begun(ticks.forward, tick, micro_batches) - Begun(ticks.weight, tick - 1, micro_batches);
  }

  // Returns the number of micro-batches in flight in each chunk at the tick at which their sum is
  // largest.
  std::array<int64_t, 2> MostInFlight(int64_t micro_batches) const {
    std::array<int64_t, 2> most = {};
    // The sum grows only at forwards, and stops growing once the first micro-batch is done in both
    // chunks.
    const int64_t done = std::max(chunks_[0].weight, chunks_[1].weight);
    for (const int32_t grown : {0, 1}) {
      for (int64_t i = 0; i < micro_batches; ++i) {
        const int64_t tick = chunk(grown).forward + i * kTicks;
        const std::array<int64_t, 2> here = {InFlight(0, tick, micro_batches),
                                             InFlight(1, tick, micro_batches)};
        if (here[0] + here[1] > most[0] + most[1]) most = here;
        if (tick > done + kTicks) break;
      }
    }
    return most;
  }

 private:
  // Returns the number of micro-batches that have begun a pass by the end of `tick`, if the first
  // begins it at tick `first`.
  static int64_t Begun(int64_t first, int64_t tick, int64_t micro_batches) {
    if (tick < first) return 0;
    return std::min(micro_batches, (tick - first) / kTicks + 1);
  }

  int64_t loss_ = 0;
  std::array<Chunk, 2> chunks_ = {};  // by chunk
};

// Returns the block of a layout whose schedule is v_half or v_half_vocab1.
inline VHalfBlock BlockOf(const Layout& layout, int32_t rank) {
  const bool waits = layout.schedule == ScheduleKind::kVHalfVocab1;
  return {layout.pp, rank, waits ? VHalfBlock::kVocabularyRounds : 0};
}

}  // namespace meshwright::planner
