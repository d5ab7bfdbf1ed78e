// Rows that stand in the order of the experts which work on them.
#pragma once

#include <cstdint>
#include <vector>

namespace meshwright::worker {

// Calls body(expert, first row, rows) for those that have any. `rows` says how many each has.
template <typename Body>
void ForExperts(const std::vector<int64_t>& rows, const Body& body) {
  int64_t first = 0;
  for (size_t expert = 0; expert < rows.size(); ++expert) {
    if (rows[expert] > 0) body(static_cast<int64_t>(expert), first, rows[expert]);
    first += rows[expert];
  }
}

}  // namespace meshwright::worker
