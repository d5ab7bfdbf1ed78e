// Sums rows column by column: each thread sums one column of a group of rows, and the sums of the
// groups are added up in memory.
#pragma once

#include <algorithm>

#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {

// Cuts `rows` rows of `width` elements into groups, for a grid of blocks of columns times groups.
struct RowGroups {
  // Makes few groups, so that a thread sums many rows before it writes to memory, but enough groups
  // to fill a GPU.
  RowGroups(int64_t rows, int64_t width)
      : rows_in_group(std::max<int64_t>(kLeastRows, (rows + kMostGroups - 1) / kMostGroups)),
        groups(std::max<int64_t>((rows + rows_in_group - 1) / rows_in_group, 1)),
        blocks(std::max<int64_t>((width + kThreads - 1) / kThreads, 1)) {}

  dim3 Grid() const {
    return dim3(static_cast<unsigned int>(blocks), static_cast<unsigned int>(groups));
  }

  static constexpr int64_t kLeastRows = 32;
  static constexpr int64_t kMostGroups = 128;

  int64_t rows_in_group;
  int64_t groups;
  int64_t blocks;
};

// Calls body(column, first row, end row) for the thread's column and group of rows.
template <typename Body>
__device__ void ForColumnOfThread(int64_t rows, int64_t width, const RowGroups& groups,
                                  const Body& body) {
  const int64_t column = GlobalThread();
  if (column >= width) return;
  const int64_t first = blockIdx.y * groups.rows_in_group;
  const int64_t end = first + groups.rows_in_group;
  body(column, first, end < rows ? end : rows);
}

}  // namespace meshwright::kernels::cuda
