// Converts between Eigen and standard types for the policy's Gaussian processes. Only sources
// include this header; no other header of this folder includes Eigen.
#pragma once

#include <cstddef>
#include <vector>

#include "Eigen/Core"

namespace meshwright::planner {

inline double Square(double value) { return value * value; }

inline Eigen::Index Index(size_t place) { return static_cast<Eigen::Index>(place); }

// Returns the matrix's elements in column-major order.
inline std::vector<double> Flat(const Eigen::MatrixXd& matrix) {
  return {matrix.data(), matrix.data() + matrix.size()};
}

}  // namespace meshwright::planner
