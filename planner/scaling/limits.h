// How large a problem may be before nothing of it fits: the largest micro-batch, the longest
// sequence and the deepest model, everything else as it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/text/enum_names.h"
#include "planner/search/search.h"

namespace meshwright::planner {

enum class LimitKind : uint8_t { kMicroBatch, kSequence, kDepth };
inline constexpr EnumNames<LimitKind, 3> kLimitKindNames = {{
    {LimitKind::kMicroBatch, "micro_batch"},  // sequences
    {LimitKind::kSequence, "seq_len"},        // tokens
    {LimitKind::kDepth, "layers"},
}};

struct Limit {
  LimitKind kind = LimitKind::kMicroBatch;
  std::optional<int64_t> asked;      // in the question; not set where a search chooses it
  std::optional<int64_t> largest;    // not set where nothing that was looked at fits
  std::optional<RankedLayout> best;  // at the largest: the best layout by the request's objective
  int64_t parameters = 0;            // of the model at the largest
  std::optional<int64_t> next;  // that does not fit; not set where nothing larger was looked at
  std::optional<int64_t>
      over_bytes;  // of the layout that is over by the least there, if any can run
  // Why none can run there, or why nothing larger was looked at; empty where one can.
  std::string problem;
};

// Sequences are looked at in multiples of the largest power of two up to this that divides the one
// asked for, and depths, from a search, at steps of kDepthStep from the model's own: others have
// few pipelines.
inline constexpr int64_t kMostSequenceStep = 1024;
inline constexpr int64_t kDepthStep = 8;

// One limit of each kind. Every micro-batch is looked at; of the others first what doubling and
// halving the value asked for meets, and then, between the largest of these that fits and the next
// one, halves: a value beyond that the layouts' divisors suit better may fit as well. With a
// `layout` about that one alone, but for the micro-batch whose limit is asked. Errors as Search()
// has them where they are not about one of the three.
absl::StatusOr<std::vector<Limit>> FindLimits(const SearchRequest& request,
                                              const std::optional<Layout>& layout);

// Returns the model with so many layers: the first ones of it, and behind its last one copies of
// its shortest period of layers. Requires layers > 0.
ModelSpec WithDepth(const ModelSpec& model, int64_t layers);

}  // namespace meshwright::planner
