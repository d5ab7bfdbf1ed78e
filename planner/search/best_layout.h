// BestLayout is the best layout of a search, or the reason why there is none. It serves callers
// that repeat a search for many values, such as numbers of devices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "planner/search/search.h"

namespace meshwright::planner {

struct BestLayout {
  std::optional<RankedLayout> best;  // by the request's objective
  absl::Status refused;              // Search()'s error if no layout can run
  std::string problem;               // why there is no layout; empty if there is one
  // Bytes by which the nearest layout exceeds the allowed memory; set if layouts can run but none
  // fits.
  std::optional<int64_t> over_bytes;
};

// Returns the request with `where` as a further condition on its layouts, or an error of
// ParseLayoutCondition(), which parses `where`. An empty `where` changes nothing.
absl::StatusOr<SearchRequest> Narrowed(SearchRequest request, std::string_view where);

// Returns whether `status` is InvalidArgument naming one of `fields`.
bool IsAbout(const absl::Status& status, absl::Span<const std::string_view> fields);

// Searches for one layout; `top` is ignored. If Search() returns InvalidArgument naming one of
// `fields`, the result has no layout and `refused` is that error. Every other error is returned
// unchanged.
absl::StatusOr<BestLayout> FindBest(SearchRequest request,
                                    absl::Span<const std::string_view> fields);

}  // namespace meshwright::planner
