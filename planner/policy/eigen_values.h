// Small conversions that the policy's Gaussian processes share. For sources: no header of the room
// includes Eigen.
#pragma once

#include <cstddef>
#include <vector>

#include "Eigen/Core"

namespace meshwright::planner {

inline double Square(double value) { return value * value; }

inline Eigen::Index Index(size_t place) { return static_cast<Eigen::Index>(place); }

// The matrix's elements, column by column.
inline std::vector<double> Flat(const Eigen::MatrixXd& matrix) {
  return {matrix.data(), matrix.data() + matrix.size()};
}

}  // namespace meshwright::planner
