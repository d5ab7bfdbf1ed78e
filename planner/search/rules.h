// Why a point of the search space is not a layout that can run: one rule with its operands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "planner/layout/layout.h"
#include "planner/profile/context.h"

namespace meshwright::planner {

enum class Rule : uint8_t {
  kDevices,                   // tp * cp * pp * dp is not the number of devices
  kLayersDivision,            // layers % (pp * vpp)
  kHeadsDivision,             // heads % tp
  kKvHeadsDivision,           // kv_heads % tp
  kFfnDivision,               // FFN width % tp
  kVocabDivision,             // vocabulary % tp, where the framework does not pad it
  kContextDivision,           // seq_len % (2 * cp)
  kSequenceParallelTp,        // sequence parallel without tp
  kSequenceParallelDivision,  // seq_len % (tp * cp)
  kScheduleChunks,            // vpp against pp and the schedule
  kBatchDivision,             // global batch % (dp * micro-batch)
  kInterleaveBatches,         // micro-batches % pp under interleaving
  kZeroBubbleBatches,         // fewer micro-batches than a zero-bubble schedule needs
  kRecomputeLayers,           // more recomputed layers than a chunk has
  kZeroRanks,                 // ZeRO without ranks to shard over
  kProfile,                   // the framework does not have this
  kTooLarge,                  // sizes beyond what the planner can count
  kWorker,                    // the worker can't run this (sweeps only)
  kCount,
};

// Stable identifier for counters and JSON, such as "heads_division".
std::string_view RuleName(Rule rule);

struct Violation {
  Rule rule = Rule::kCount;
  int64_t value = 0;    // the operand that is off
  int64_t divisor = 0;  // what it should be a multiple of, or the bound; 0 where there is none
};

// One sentence with the numbers in it.
std::string Describe(const Violation& violation);

// The first rule that `layout` breaks on `devices` devices, or nullopt when it can run.
std::optional<Violation> CheckLayout(const EstimateContext& context, int64_t devices,
                                     const Layout& layout);

}  // namespace meshwright::planner
