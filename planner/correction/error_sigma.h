// ErrorSigma is the standard deviation of ln(measured / estimated) of a step or a peak, in two
// independent parts.
#pragma once

#include <cmath>

namespace meshwright::planner {

struct ErrorSigma {
  double shared = 0.0;  // of the part that all layouts of one user have in common
  double own = 0.0;     // of the part that differs between layouts

  double total() const { return std::hypot(shared, own); }

  friend bool operator==(const ErrorSigma&, const ErrorSigma&) = default;
};

}  // namespace meshwright::planner
