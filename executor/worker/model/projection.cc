#include "executor/worker/model/projection.h"

#include <ATen/ops/empty.h>

#include <algorithm>

#include "executor/worker/model/grouped_linear.h"
#include "executor/worker/model/linear.h"
#include "executor/worker/model/scaled_product.h"
#include "planner/block/scale_tiles.h"

namespace meshwright::worker {
namespace {

using kernels::ScaleTiles;

// The rows of a group, and where its tiles of tokens begin.
struct RowsOfGroup {
  int64_t group = 0;
  int64_t first = 0;
  int64_t count = 0;
  int64_t first_tile = 0;
};

// Calls body(rows) for the groups that have any.
template <typename Body>
void ForGroups(const RowGroups& groups, const Body& body) {
  RowsOfGroup rows;
  for (const int64_t count : groups) {
    rows.count = count;
    if (count > 0) body(rows);
    ++rows.group;
    rows.first += count;
    rows.first_tile += planner::ScaleTilesIn(count);
  }
}

// Returns a group's matrix of [groups * outputs, inputs].
at::Tensor MatrixOfGroup(const at::Tensor& matrices, const RowGroups& groups, int64_t group) {
  const int64_t outputs = matrices.size(0) / static_cast<int64_t>(groups.size());
  return matrices.narrow(0, group * outputs, outputs);
}

// x times each group's weight, contracting its columns in forward and its rows in backward.
at::Tensor TimesWeight(const RankContext& context, const at::Tensor& x, const at::Tensor& weight,
                       const RowGroups& groups, bool forward) {
  const int64_t outputs = weight.size(0) / static_cast<int64_t>(groups.size());
  const int64_t columns = forward ? outputs : weight.size(1);
  at::Tensor result = at::empty({x.size(0), columns}, x.options());
  if (x.size(0) == 0) return result;
  const QuantisedMatrix rows = Quantised(context, x, ScaleTiles::kRows);
  const ScaledProduct product(context, x.size(0), columns, x.size(1));
  ForGroups(groups, [&](const RowsOfGroup& of) {
    const QuantisedMatrix blocks =
        Quantised(context, MatrixOfGroup(weight, groups, of.group), ScaleTiles::kBlocks);
    product.Into(result.narrow(0, of.first, of.count), {RowsOf(rows, of.first, of.count)},
                 {blocks, /*contracts_columns=*/forward});
  });
  return result;
}

void NarrowBackwardWeight(const RankContext& context, const at::Tensor& dy,
                          const QuantisedMatrix& x, const RowGroups& groups,
                          const MatrixGradient& gradient) {
  for (size_t group = 0; gradient.empty && group < groups.size(); ++group) {
    if (groups[group] > 0) continue;
    MatrixOfGroup(gradient.values, groups, static_cast<int64_t>(group)).zero_();
  }
  if (dy.size(0) == 0) return;
  const QuantisedMatrix columns = QuantisedByGroup(context, dy, groups);
  const ScaledProduct product(context, dy.size(1), x.values.size(1), dy.size(0));
  ForGroups(groups, [&](const RowsOfGroup& of) {
    product.Into(
        {.values = MatrixOfGroup(gradient.values, groups, of.group), .empty = gradient.empty},
        {GroupOf(columns, of.first, of.count, of.first_tile), false},
        {GroupOf(x, of.first, of.count, of.first_tile), false});
  });
}

}  // namespace

ProductInput KeepInput(const RankContext& context, const at::Tensor& x, const RowGroups& groups) {
  if (!context.narrows_products()) return {.wide = x, .narrow = {}};
  return {.wide = {}, .narrow = QuantisedByGroup(context, x, groups)};
}

ProductInput KeepInput(const RankContext& context, const at::Tensor& x) {
  return KeepInput(context, x, {x.size(0)});
}

at::Tensor ProjectionForward(const RankContext& context, const at::Tensor& x,
                             const at::Tensor& weight, const at::Tensor& bias) {
  if (!context.narrows_products()) return LinearForward(x, weight, bias);
  at::Tensor y = TimesWeight(context, x, weight, {x.size(0)}, /*forward=*/true);
  AddBias(bias, y);
  return y;
}

at::Tensor ProjectionForward(const RankContext& context, const at::Tensor& x,
                             const at::Tensor& weight, const RowGroups& groups) {
  if (!context.narrows_products()) return GroupedForward(x, weight, groups);
  return TimesWeight(context, x, weight, groups, /*forward=*/true);
}

at::Tensor ProjectionBackwardInput(const RankContext& context, const at::Tensor& dy,
                                   const at::Tensor& weight) {
  if (!context.narrows_products()) return LinearBackwardInput(dy, weight);
  return TimesWeight(context, dy, weight, {dy.size(0)}, /*forward=*/false);
}

at::Tensor ProjectionBackwardInput(const RankContext& context, const at::Tensor& dy,
                                   const at::Tensor& weight, const RowGroups& groups) {
  if (!context.narrows_products()) return GroupedBackwardInput(dy, weight, groups);
  return TimesWeight(context, dy, weight, groups, /*forward=*/false);
}

void ProjectionBackwardWeight(const RankContext& context, const at::Tensor& dy,
                              const ProductInput& x, const MatrixGradient& gradient) {
  if (x.narrow.defined()) {
    NarrowBackwardWeight(context, dy, x.narrow, {dy.size(0)}, gradient);
  } else {
    LinearBackwardWeight(context, dy, x.wide, gradient);
  }
}

void ProjectionBackwardWeight(const RankContext& context, const at::Tensor& dy,
                              const ProductInput& x, const RowGroups& groups,
                              const MatrixGradient& gradient) {
  if (x.narrow.defined()) {
    NarrowBackwardWeight(context, dy, x.narrow, groups, gradient);
  } else {
    GroupedBackwardWeight(context, dy, x.wide, groups, gradient);
  }
}

EnteringInput StartEntering(RankContext& context, const ProductInput& share) {
  if (!context.layout.sequence_parallel) return {share, {}, {}};
  // Concatenates all ranks' parts.
  const auto whole = [&](const at::Tensor& part) {
    return at::empty({part.size(0) * context.layout.tp, part.size(1)}, part.options());
  };
  Communicator& group = *context.groups.tp;
  if (share.wide.defined()) {
    ProductInput all = {.wide = whole(share.wide), .narrow = {}};
    Pending values = group.AllGather(all.wide, share.wide);
    return {std::move(all), std::move(values), {}};
  }
  ProductInput all = {.wide = {},
                      .narrow = {.tiles = share.narrow.tiles,
                                 .values = whole(share.narrow.values),
                                 .scales = whole(share.narrow.scales)}};
  Pending values = group.AllGather(all.narrow.values, share.narrow.values);
  Pending scales = group.AllGather(all.narrow.scales, share.narrow.scales);
  return {std::move(all), std::move(values), std::move(scales)};
}

}  // namespace meshwright::worker
