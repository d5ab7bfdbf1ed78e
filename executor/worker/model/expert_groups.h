// Iterates over rows that are grouped by expert.
#pragma once

#include <cstdint>
#include <vector>

namespace meshwright::worker {

// Calls body(expert, first row, rows) for experts that have rows. `rows` has each expert's number.
template <typename Body>
void ForExperts(const std::vector<int64_t>& rows, const Body& body) {
  int64_t first = 0;
  for (size_t expert = 0; expert < rows.size(); ++expert) {
    if (rows[expert] > 0) body(static_cast<int64_t>(expert), first, rows[expert]);
    first += rows[expert];
  }
}

}  // namespace meshwright::worker
