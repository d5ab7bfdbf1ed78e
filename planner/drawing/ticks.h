// These functions choose the marks of an axis: round numbers within the axis's range.
#pragma once

#include <string>
#include <vector>

namespace meshwright::planner {

// Returns the multiples of 1, 2 or 5 times a power of ten in [low, high]: the finest such step that
// has at most `most` multiples there. Returns nothing unless low < high, both finite and not equal
// up to rounding.
std::vector<double> LinearTicks(double low, double high, int most);

// Returns 1, 2 and 5 times each power of ten in [low, high], for a logarithmic axis; the powers
// alone if the axis has more than three decades, and more digits if it has about one or less. If
// fewer than two of these lie in the range, returns LinearTicks(). Returns nothing unless 0 < low
// <= high, both finite.
std::vector<double> LogTicks(double low, double high);

// Returns the mark's label, such as "12,500" or "0.025".
std::string TickText(double value);

}  // namespace meshwright::planner
