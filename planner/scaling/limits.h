// Finds how large a problem may be before it no longer fits: the largest micro-batch, the longest
// sequence and the deepest model, each with everything else unchanged.
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
    {LimitKind::kMicroBatch, "micro_batch"},  // in sequences
    {LimitKind::kSequence, "seq_len"},        // in tokens
    {LimitKind::kDepth, "layers"},
}};

struct Limit {
  LimitKind kind = LimitKind::kMicroBatch;
  std::optional<int64_t> asked;      // the value asked for; not set if a search chooses it
  std::optional<int64_t> largest;    // not set if nothing that was tried fits
  std::optional<RankedLayout> best;  // the best layout at `largest`, by the request's objective
  int64_t parameters = 0;            // parameters of the model at `largest`
  std::optional<int64_t> next;       // smallest tried value that does not fit; not set if all fit
  // Bytes by which the nearest layout at `next` exceeds the allowed memory; not set if no layout
  // can run there.
  std::optional<int64_t> over_bytes;
  // Says why no layout can run at `next`, or why nothing larger was tried. Otherwise empty.
  std::string problem;
};

// Sequence lengths are tried in steps of a power of two: the largest power that divides the
// requested length, but at most this many tokens.
inline constexpr int64_t kMostSequenceStep = 1024;
// A search tries depths in steps of this many layers from the model's own depth, because few
// pipelines divide other depths. If the model's layers repeat a pattern, every step is a whole
// number of patterns.
inline constexpr int64_t kDepthStep = 8;

// Returns one limit of each kind. Micro-batches are tried from the largest down until one fits.
// Sequence lengths and depths are tried in two passes. The first pass tries doublings and halvings
// of the requested value, from the largest down until one fits. The second pass bisects the
// interval above the value that fits. The bisection can miss a larger value that fits because
// layouts divide it better.
//
// If `layout` is set, only this layout is tried; for the largest micro-batch, it is tried with
// other micro-batches. If Search() fails because of the value that is tried, its error becomes the
// limit's `problem`. Every other error is returned unchanged.
absl::StatusOr<std::vector<Limit>> FindLimits(const SearchRequest& request,
                                              const std::optional<Layout>& layout);

// Returns the model, cut or extended to `layers` layers. Added layers continue the shortest pattern
// that the second half of the model's layers repeats, or the model's whole list of layers if that
// pattern is long.
// REQUIRES: layers > 0.
ModelSpec WithDepth(const ModelSpec& model, int64_t layers);

}  // namespace meshwright::planner
