// Finds how large a problem may be before it no longer fits: the largest micro-batch, the longest
// sequence and the deepest model, everything else unchanged.
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
  std::optional<int64_t> asked;      // the value asked for; not set where a search chooses it
  std::optional<int64_t> largest;    // not set where nothing that was tried fits
  std::optional<RankedLayout> best;  // the best layout at `largest`, by the request's objective
  int64_t parameters = 0;            // of the model at `largest`
  std::optional<int64_t> next;       // the smallest value tried that does not fit, if any was tried
  std::optional<int64_t> over_bytes;  // at `next`: the least excess of a layout that can run there
  // Why no layout can run at `next`, or why nothing larger was tried; empty where one can.
  std::string problem;
};

// Sequences are tried in multiples of the largest power of two up to this that divides the one
// asked for. Depths are tried, in a search, at steps of kDepthStep from the model's own: others
// have few pipelines.
inline constexpr int64_t kMostSequenceStep = 1024;
inline constexpr int64_t kDepthStep = 8;

// Returns one limit of each kind. Every micro-batch is tried. Of the others, first the doublings
// and halvings of the value asked for are tried, and then the interval between the largest that
// fits and the next is bisected: a larger value that suits the layouts' divisors better may fit as
// well. With `layout`, only that layout is tried, with a variable micro-batch for the limit of
// micro-batches. Errors as Search() has them where they are not about one of the three.
absl::StatusOr<std::vector<Limit>> FindLimits(const SearchRequest& request,
                                              const std::optional<Layout>& layout);

// Returns the model with this number of layers: its first ones, and after its last one copies of
// its shortest period of layers. Requires layers > 0.
ModelSpec WithDepth(const ModelSpec& model, int64_t layers);

}  // namespace meshwright::planner
