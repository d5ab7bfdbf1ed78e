// The best layout of a search alone, or why there is none: for callers that ask the same question
// at many values.
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
  std::optional<RankedLayout> best;   // by the request's objective
  absl::Status refused;               // what Search() said where none can run
  std::string problem;                // why there is none; empty where there is one
  std::optional<int64_t> over_bytes;  // by how much the nearest is over, where some can run
};

// Returns the same question about those of its layouts that `where` takes as well, whose text
// ParseLayoutCondition() reads; empty: about all of them.
absl::StatusOr<SearchRequest> Narrowed(SearchRequest request, std::string_view where);

// Whether a search was refused for one of these fields of its request.
bool IsAbout(const absl::Status& status, absl::Span<const std::string_view> fields);

// Searches for one layout, whatever `top` says. A request that Search() refuses for one of `fields`
// has none; all other errors are its own.
absl::StatusOr<BestLayout> FindBest(SearchRequest request,
                                    absl::Span<const std::string_view> fields);

}  // namespace meshwright::planner
