#include "executor/worker/state/matrix_update.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "executor/worker/state/newton_schulz.h"
#include "executor/worker/state/release_storage.h"

namespace meshwright::worker {
namespace {

// Scales updates to the row lengths of AdamW's (arXiv 2502.16982, section 2.2).
double StepScale(int64_t rows, int64_t columns) {
  return 0.2 * std::sqrt(static_cast<double>(std::max(rows, columns)));
}

int64_t TotalOf(const std::vector<int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), int64_t{0});
}

// Returns the group of ranks that hold other parts of the unit's matrices; null if none do.
Communicator* HoldersOfParts(const RankContext& context, const FlatUnit& unit) {
  const bool experts = unit.parameters().front().of_experts;
  return (experts ? context.groups.etp : context.groups.tp).get();
}

int64_t SizeOf(const Communicator* group) { return group == nullptr ? 1 : group->size(); }
int64_t RankIn(const Communicator* group) { return group == nullptr ? 0 : group->rank(); }

}  // namespace

MatrixUpdate::MatrixUpdate(const RankContext& context, FlatUnit& unit)
    : context_(context),
      unit_(unit),
      shards_(unit.zero() == 0 ? nullptr : unit.replicas().shards),
      tensor_(HoldersOfParts(context, unit)),
      own_shard_(RankIn(shards_)),
      own_tensor_(RankIn(tensor_)),
      shard_ranks_(SizeOf(shards_)),
      tensor_ranks_(SizeOf(tensor_)),
      matrices_(MatricesOf(unit)) {
  std::vector<planner::HeldMatrix> held;
  for (const Matrix& matrix : matrices_) {
    held.push_back({matrix.rows(), matrix.columns(), matrix.range.count()});
  }
  const planner::OwnerGrid grid = {.tensor = tensor_ranks_, .shards = shard_ranks_};
  const std::vector<planner::MatrixOwner> owners = planner::OwnersOf(held, grid);
  for (size_t i = 0; i < matrices_.size(); ++i) {
    matrices_[i].divided = held[i].divided();
    matrices_[i].shard = owners[i].shard;
    // Matrices held whole by every rank are not moved.
    matrices_[i].owner = held[i].divided() ? owners[i].tensor : own_tensor_;
  }
  std::stable_sort(matrices_.begin(), matrices_.end(), [](const Matrix& a, const Matrix& b) {
    return std::tie(a.shard, a.owner) < std::tie(b.shard, b.owner);
  });
  AllocateWorkspace(planner::WorkspaceOf(held, grid, unit.shard_elements()));
}

// Releases storage explicitly, as communicators may hold references longer.
MatrixUpdate::~MatrixUpdate() {
  for (const at::Tensor& exchanged : {pieces_, gathered_, parts_, wholes_}) {
    ReleaseStorage(exchanged);
  }
}

std::vector<MatrixUpdate::Matrix> MatrixUpdate::MatricesOf(const FlatUnit& unit) {
  std::vector<Matrix> matrices;
  int64_t begin = 0;
  for (const LocalParameter& parameter : unit.parameters()) {
    if (!parameter.of_block_product) continue;
    for (const ParameterPart& part : parameter.parts) {
      const int64_t end = begin + part.rows * part.columns;
      matrices.push_back({.part = part, .range = {begin, end}});
      begin = end;
    }
  }
  return matrices;
}

void MatrixUpdate::AllocateWorkspace(const planner::OrthogonalWorkspace& sizes) {
  const at::TensorOptions options = context_.options();
  pieces_ = at::empty({sizes.pieces}, options);
  gathered_ = sizes.gathered > 0 ? at::empty({sizes.gathered}, options) : pieces_;
  parts_ = sizes.gathered > 0 ? at::empty({sizes.gathered}, options) : pieces_;
  wholes_ = sizes.wholes > 0 ? at::empty({sizes.wholes}, options) : parts_;
  matrix_ = at::empty({sizes.matrix}, options);
  other_ = at::empty({sizes.matrix}, options);
  gram_ = at::empty({sizes.gram}, options);
  polynomial_ = at::empty({sizes.gram}, options);
  scratch_ =
      at::empty({sizes.scratch_elements()}, context_.options_of(context_.accumulator_dtype()));
  const at::TensorOptions sums = context_.options_of(at::kDouble);
  partial_sums_ = at::empty({kernels::SumOfSquares::kPartialSums}, sums);
  sum_ = at::empty({1}, sums);
}

template <typename Visit>
void MatrixUpdate::ForEachOwnPiece(const Visit& visit) {
  int64_t offset = 0;
  for (const Matrix& matrix : matrices_) {
    const ElementRange piece = unit_.PartOnShard(matrix.range, own_shard_);
    if (piece.count() == 0) continue;
    visit(matrix, pieces_.narrow(0, offset, piece.count()), piece);
    offset += piece.count();
  }
}

void MatrixUpdate::Run(const AdamWOptions& options, const MuonOptions& muon) {
  ForEachOwnPiece([&](const Matrix&, const at::Tensor& values, const ElementRange& piece) {
    unit_.UpdateMomentum(piece, muon, values, scratch_);
  });
  MoveShards(/*to_owners=*/true);
  MoveParts(/*to_owners=*/true);
  OrthogonaliseOwned();
  MoveParts(/*to_owners=*/false);
  MoveShards(/*to_owners=*/false);
  ForEachOwnPiece([&](const Matrix& matrix, const at::Tensor& values, const ElementRange& piece) {
    unit_.UpdateAlong(piece, values, StepScale(matrix.rows(), matrix.columns()), options, scratch_);
  });
}

void MatrixUpdate::MoveShards(bool to_owners) {
  if (shards_ == nullptr) return;
  std::vector<int64_t> here(static_cast<size_t>(shard_ranks_));
  std::vector<int64_t> there(static_cast<size_t>(shard_ranks_));
  for (const Matrix& matrix : matrices_) {
    here[static_cast<size_t>(matrix.shard)] += unit_.PartOnShard(matrix.range, own_shard_).count();
    if (matrix.shard != own_shard_) continue;
    for (int64_t from = 0; from < shard_ranks_; ++from) {
      there[static_cast<size_t>(from)] += unit_.PartOnShard(matrix.range, from).count();
    }
  }
  const at::Tensor pieces = pieces_.narrow(0, 0, TotalOf(here));
  const at::Tensor gathered = gathered_.narrow(0, 0, TotalOf(there));
  if (to_owners) {
    shards_->AllToAll(gathered, there, pieces, here).Wait();
    ReorderPieces(/*to_parts=*/true);
  } else {
    ReorderPieces(/*to_parts=*/false);
    shards_->AllToAll(pieces, here, gathered, there).Wait();
  }
}

void MatrixUpdate::ReorderPieces(bool to_parts) {
  int64_t in_gathered = 0;
  for (int64_t from = 0; from < shard_ranks_; ++from) {
    int64_t in_parts = 0;
    for (const Matrix& matrix : matrices_) {
      if (matrix.shard != own_shard_) continue;
      const ElementRange piece = unit_.PartOnShard(matrix.range, from);
      if (piece.count() > 0) {
        const at::Tensor apart = gathered_.narrow(0, in_gathered, piece.count());
        const at::Tensor together =
            parts_.narrow(0, in_parts + piece.begin - matrix.range.begin, piece.count());
        (to_parts ? together : apart).copy_(to_parts ? apart : together);
      }
      in_gathered += piece.count();
      in_parts += matrix.range.count();
    }
  }
}

void MatrixUpdate::MoveParts(bool to_owners) {
  if (tensor_ == nullptr) return;
  std::vector<int64_t> here(static_cast<size_t>(tensor_ranks_));
  std::vector<int64_t> there(static_cast<size_t>(tensor_ranks_));
  for (const Matrix& matrix : matrices_) {
    if (matrix.shard != own_shard_) continue;
    here[static_cast<size_t>(matrix.owner)] += matrix.range.count();
    if (matrix.owner != own_tensor_) continue;
    for (int64_t from = 0; from < tensor_ranks_; ++from) {
      if (!matrix.divided && from != own_tensor_) continue;
      there[static_cast<size_t>(from)] += matrix.range.count();
    }
  }
  const at::Tensor parts = parts_.narrow(0, 0, TotalOf(here));
  const at::Tensor wholes = wholes_.narrow(0, 0, TotalOf(there));
  if (to_owners) {
    tensor_->AllToAll(wholes, there, parts, here).Wait();
  } else {
    tensor_->AllToAll(parts, here, wholes, there).Wait();
  }
}

void MatrixUpdate::OrthogonaliseOwned() {
  // By owned matrix and tensor rank: its part in `wholes_`.
  std::vector<std::vector<at::Tensor>> parts_of(matrices_.size());
  int64_t offset = 0;
  for (int64_t from = 0; from < tensor_ranks_; ++from) {
    for (size_t i = 0; i < matrices_.size(); ++i) {
      const Matrix& matrix = matrices_[i];
      if (matrix.shard != own_shard_ || matrix.owner != own_tensor_) continue;
      if (!matrix.divided && from != own_tensor_) continue;
      parts_of[i].push_back(wholes_.narrow(0, offset, matrix.range.count())
                                .view({matrix.part.rows, matrix.part.columns}));
      offset += matrix.range.count();
    }
  }
  for (size_t i = 0; i < matrices_.size(); ++i) {
    if (parts_of[i].empty()) continue;
    const Matrix& matrix = matrices_[i];
    const int64_t elements = matrix.rows() * matrix.columns();
    const int64_t smaller = std::min(matrix.rows(), matrix.columns());
    const auto shaped = [](const at::Tensor& flat, int64_t rows, int64_t columns) {
      return flat.narrow(0, 0, rows * columns).view({rows, columns});
    };
    const at::Tensor whole = shaped(matrix_, matrix.rows(), matrix.columns());
    const bool by_rows = matrix.part.rows < matrix.rows();
    const auto part_in = [&](const at::Tensor& tensor, size_t from) {
      const int64_t length = by_rows ? matrix.part.rows : matrix.part.columns;
      return tensor.narrow(by_rows ? 0 : 1, static_cast<int64_t>(from) * length, length);
    };
    for (size_t from = 0; from < parts_of[i].size(); ++from) {
      part_in(whole, from).copy_(parts_of[i][from]);
    }
    const at::Tensor result =
        Orthogonalise(whole, NormOf(matrix_.narrow(0, 0, elements)),
                      context_.training.optimizer.orthogonal_iterations,
                      {.other = shaped(other_, matrix.rows(), matrix.columns()),
                       .gram = shaped(gram_, smaller, smaller),
                       .polynomial = shaped(polynomial_, smaller, smaller)});
    for (size_t from = 0; from < parts_of[i].size(); ++from) {
      parts_of[i][from].copy_(part_in(result, from));
    }
  }
}

double MatrixUpdate::NormOf(const at::Tensor& matrix) {
  sum_.zero_();
  for (int64_t begin = 0; begin < matrix.numel(); begin += scratch_.numel()) {
    const int64_t count = std::min(matrix.numel() - begin, scratch_.numel());
    scratch_.narrow(0, 0, count).copy_(matrix.narrow(0, begin, count));
    context_.device->kernels().Run(
        kernels::SumOfSquares{.type = context_.accumulator_element(),
                              .count = count,
                              .x = scratch_.const_data_ptr(),
                              .partial_sums = partial_sums_.mutable_data_ptr<double>(),
                              .sum = sum_.mutable_data_ptr<double>()});
  }
  return std::sqrt(sum_.item<double>());
}

}  // namespace meshwright::worker
