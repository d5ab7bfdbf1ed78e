#include "executor/worker/state/flat_unit.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <utility>

#include "executor/worker/comm/host_kernels.h"
#include "executor/worker/state/random.h"
#include "executor/worker/state/release_storage.h"
#include "planner/worker_memory/unit_shards.h"

namespace meshwright::worker {
namespace {

// Elements initialised at once in fp32, so that large units don't need their size again.
constexpr int64_t kInitialBlockElements = int64_t{1} << 20;

// Fills `values` [rows, part.columns] with rows of one part, counted within it.
void FillRows(const ParameterPart& part, const RankContext& context, int64_t first, int64_t rows,
              const at::Tensor& values) {
  switch (part.initial) {
    case Initial::kOnes:
      values.fill_(1.0);
      return;
    case Initial::kZeros:
      values.zero_();
      return;
    case Initial::kNormal:
      context.device->kernels().Run(kernels::RandomNormal{
          .key = RandomKey(context.seed, part.name),
          .begin = (part.row_begin + first) * part.global_columns + part.column_begin,
          .rows = rows,
          .columns = part.columns,
          .stride = part.global_columns,
          .deviation = static_cast<float>(context.model.initializer_range),
          .values = values.mutable_data_ptr<float>()});
      return;
  }
}

// `flat` holds the unit's elements from `flat_begin` on, `values` those from `begin` on. Copies the
// overlap of `values` into `flat`.
void CopyWhatOverlaps(const at::Tensor& values, int64_t begin, const at::Tensor& flat,
                      int64_t flat_begin) {
  const int64_t first = std::max(begin, flat_begin);
  const int64_t last = std::min(begin + values.numel(), flat_begin + flat.numel());
  if (first >= last) return;
  flat.narrow(0, first - flat_begin, last - first)
      .copy_(values.narrow(0, first - begin, last - first));
}

// Returns views of a flat buffer that holds the matrices of `unit`, or its other parameters.
std::vector<at::Tensor> Views(const at::Tensor& flat, const ParameterUnit& unit, bool matrices) {
  std::vector<at::Tensor> views;
  int64_t offset = 0;
  for (const LocalParameter& parameter : unit) {
    if (parameter.matrix != matrices) continue;
    at::Tensor view = flat.narrow(0, offset, parameter.elements());
    if (matrices) view = view.view({parameter.rows(), parameter.columns()});
    views.push_back(std::move(view));
    offset += parameter.elements();
  }
  return views;
}

}  // namespace

FlatUnit::FlatUnit(RankContext& context, ParameterUnit parameters, const Replicas& replicas)
    : parameters_(std::move(parameters)),
      replicas_(replicas),
      zero_(replicas.shards == nullptr ? 0 : context.layout.zero),
      elements_(UnitElements(parameters_)),
      matrix_elements_(MatrixElements(parameters_)),
      whole_matrix_elements_(WholeMatrixElements(parameters_)),
      orthogonal_elements_(
          context.training.optimizer.orthogonalises() ? BlockMatrixElements(parameters_) : 0),
      replicated_elements_(ReplicatedElements(parameters_)),
      router_elements_(RouterElements(parameters_)),
      partial_elements_(PartialElements(parameters_)),
      head_norm_elements_(HeadNormElements(parameters_)),
      shard_elements_(zero_ == 0 ? elements_
                                 : planner::ShardElements(elements_, replicas.shards->size(),
                                                          context.training.formats())),
      padded_elements_(zero_ == 0 ? elements_ : shard_elements_ * replicas.shards->size()),
      own_begin_(zero_ == 0 ? 0 : replicas.shards->rank() * shard_elements_),
      keeps_weights_(zero_ <= 2),
      keeps_gradients_(zero_ <= 1),
      states_on_host_(context.layout.offload.optimizer) {
  const at::TensorOptions wide = context.options_of(context.accumulator_dtype());
  AllocateWeights(context.options());
  if (context.dtype() != context.accumulator_dtype()) {
    master_ = NewState(context, shard_elements_);
  }
  // Initialised before the other buffers exist, so that scratch memory does not raise the peak.
  Initialize(context);
  AllocateGradients(wide);
  first_moment_ = NewState(context, shard_elements_);
  // The last shard has the fewest elements of matrices, which come first.
  const int64_t last_shard = zero_ == 0 ? 0 : replicas.shards->size() - 1;
  const int64_t one_moment =
      PartOnShard({.begin = 0, .end = orthogonal_elements_}, last_shard).count();
  second_moment_ = NewState(context, shard_elements_ - one_moment);
}

at::Tensor FlatUnit::NewState(RankContext& context, int64_t elements) const {
  const at::ScalarType wide = context.accumulator_dtype();
  if (!states_on_host_) return at::zeros({elements}, context.options_of(wide));
  return context.host_memory.Allocate(elements, wide, context.device->torch_device()).zero_();
}

void FlatUnit::AllocateWeights(const at::TensorOptions& options) {
  if (!keeps_weights_) {
    own_weights_ = at::zeros({shard_elements_}, options);
    return;
  }
  weights_ = at::zeros({padded_elements_}, options);
  own_weights_ = OwnPart(weights_);
  ViewWeights();
}

void FlatUnit::AllocateGradients(const at::TensorOptions& options) {
  const int64_t vector_elements = elements_ - matrix_elements_;
  if (keeps_gradients_) {
    gradients_ = at::zeros({padded_elements_}, options);
    own_gradients_ = OwnPart(gradients_);
    vector_gradients_ = gradients_.narrow(0, matrix_elements_, vector_elements);
    matrix_gradient_views_ = Views(gradients_, parameters_, /*matrices=*/true);
    EmptyMatrices();
  } else {
    own_gradients_ = at::zeros({shard_elements_}, options);
    vector_gradients_ = at::zeros({vector_elements}, options);
  }
  vector_gradient_views_ = Views(vector_gradients_, parameters_, /*matrices=*/false);
}

void FlatUnit::ViewWeights() {
  weight_views_ = Views(weights_, parameters_, /*matrices=*/true);
  const at::Tensor vectors = weights_.narrow(0, matrix_elements_, elements_ - matrix_elements_);
  for (at::Tensor& view : Views(vectors, parameters_, /*matrices=*/false)) {
    weight_views_.push_back(std::move(view));
  }
}

void FlatUnit::Initialize(const RankContext& context) {
  const at::Tensor& weights = keeps_weights_ ? weights_ : own_weights_;
  const int64_t weights_begin = keeps_weights_ ? 0 : own_begin_;
  const int64_t weights_end = weights_begin + weights.numel();
  const at::TensorOptions options =
      at::TensorOptions().dtype(at::kFloat).device(context.device->torch_device());
  int64_t begin = 0;
  for (const LocalParameter& parameter : parameters_) {
    for (const ParameterPart& part : parameter.parts) {
      const int64_t block_rows = std::max<int64_t>(1, kInitialBlockElements / part.columns);
      for (int64_t row = 0; row < part.rows; row += block_rows) {
        const int64_t rows = std::min(block_rows, part.rows - row);
        const int64_t elements = rows * part.columns;
        if (begin < weights_end && begin + elements > weights_begin) {
          const at::Tensor values = at::empty({elements}, options);
          FillRows(part, context, row, rows, values);
          CopyWhatOverlaps(values, begin, weights, weights_begin);
          if (master_.defined()) CopyWhatOverlaps(values, begin, master_, own_begin_);
        }
        begin += elements;
      }
    }
  }
}

const at::Tensor& FlatUnit::weight(size_t index) const {
  static const auto& nothing = *new at::Tensor();
  return index == kNowhere ? nothing : weight_views_.at(index);
}

const at::Tensor& FlatUnit::gradient(size_t index) const {
  static const auto& nothing = *new at::Tensor();
  if (index == kNowhere) return nothing;
  const size_t matrices = parameters_.size() - vector_gradient_views_.size();
  return index < matrices ? matrix_gradient_views_.at(index)
                          : vector_gradient_views_.at(index - matrices);
}

MatrixGradient FlatUnit::TakeMatrixGradient(size_t index) {
  const bool empty = matrix_is_empty_.at(index);
  matrix_is_empty_[index] = false;
  return {.values = matrix_gradient_views_.at(index), .empty = empty};
}

void FlatUnit::ZeroBehindMatrices() {
  gradients_.narrow(0, matrix_elements_, padded_elements_ - matrix_elements_).zero_();
}

void FlatUnit::EmptyMatrices() { matrix_is_empty_.assign(matrix_gradient_views_.size(), true); }

void FlatUnit::ClearGradients() {
  if (keeps_gradients_) {
    ZeroBehindMatrices();
    EmptyMatrices();
    return;
  }
  own_is_empty_ = true;
  vector_gradients_.zero_();
}

void FlatUnit::OpenGradients() {
  if (gradients_open()) return;
  gradients_ = at::empty({padded_elements_}, own_gradients_.options());
  matrix_gradient_views_ = Views(gradients_, parameters_, /*matrices=*/true);
  ZeroBehindMatrices();
  EmptyMatrices();
}

at::Tensor FlatUnit::CloseGradients(bool with_vectors) {
  if (keeps_gradients_) return gradients_;
  if (with_vectors) {
    gradients_.narrow(0, matrix_elements_, elements_ - matrix_elements_).copy_(vector_gradients_);
  }
  matrix_gradient_views_.clear();
  return std::exchange(gradients_, {});
}

void FlatUnit::AddToOwnGradients(const at::Tensor& part) {
  if (std::exchange(own_is_empty_, false)) {
    own_gradients_.copy_(part);
  } else {
    own_gradients_.add_(part);
  }
}

at::Tensor FlatUnit::OwnPart(const at::Tensor& flat) const {
  return flat.narrow(0, own_begin_, shard_elements_);
}

FlatUnit::OwnRange FlatUnit::OwnRangeOf(int64_t begin, int64_t end) const {
  const int64_t own_begin = std::max<int64_t>(begin - own_begin_, 0);
  return {.begin = own_begin, .count = std::min(end - own_begin_, shard_elements_) - own_begin};
}

std::vector<at::Tensor> FlatUnit::DistinctGradients(bool with_replicated) const {
  std::vector<at::Tensor> pieces;
  const auto add = [&](int64_t begin, int64_t end) {
    const OwnRange own = OwnRangeOf(begin, end);
    if (own.count > 0) pieces.push_back(own_gradients_.narrow(0, own.begin, own.count));
  };
  if (with_replicated) {
    add(0, elements_);
  } else {
    add(0, matrix_elements_ - whole_matrix_elements_);
    add(matrix_elements_ + replicated_elements_, elements_);
  }
  return pieces;
}

ElementRange FlatUnit::PartOnShard(const ElementRange& range, int64_t shard) const {
  const int64_t begin = std::max(range.begin, shard * shard_elements_);
  const int64_t end = std::min(range.end, (shard + 1) * shard_elements_);
  return {.begin = begin, .end = std::max(begin, end)};
}

namespace {

// Calls visit(begin, count) for pieces of [0, elements) that fit into `scratch`.
template <typename Visit>
void ForEachPiece(int64_t elements, const at::Tensor& scratch, const Visit& visit) {
  for (int64_t begin = 0; begin < elements; begin += scratch.numel()) {
    visit(begin, std::min(elements - begin, scratch.numel()));
  }
}

}  // namespace

// Scales by adding a multiple: Torch would make a tensor of an in-place scalar factor.
void FlatUnit::UpdateMomentum(const ElementRange& part, const MuonOptions& options,
                              const at::Tensor& directions, const at::Tensor& scratch) {
  const int64_t own = part.begin - own_begin_;
  ForEachPiece(part.count(), scratch, [&](int64_t begin, int64_t count) {
    const at::Tensor gradient = own_gradients_.narrow(0, own + begin, count);
    const at::Tensor momentum = first_moment_.narrow(0, own + begin, count);
    const at::Tensor direction = scratch.narrow(0, 0, count);
    momentum.add_(momentum, options.momentum - 1.0);
    momentum.add_(gradient);
    direction.copy_(gradient);
    direction.add_(momentum, options.momentum);
    directions.narrow(0, begin, count).copy_(direction);
  });
}

void FlatUnit::UpdateAlong(const ElementRange& part, const at::Tensor& directions, double scale,
                           const AdamWOptions& options, const at::Tensor& scratch) {
  const int64_t own = part.begin - own_begin_;
  const at::Tensor& precise = master_.defined() ? master_ : own_weights_;
  ForEachPiece(part.count(), scratch, [&](int64_t begin, int64_t count) {
    const at::Tensor direction = scratch.narrow(0, 0, count);
    const at::Tensor weights = precise.narrow(0, own + begin, count);
    direction.copy_(directions.narrow(0, begin, count));
    weights.add_(weights, -options.learning_rate * options.weight_decay);
    weights.add_(direction, -options.learning_rate * scale);
    if (master_.defined()) own_weights_.narrow(0, own + begin, count).copy_(weights);
  });
}

void FlatUnit::Update(RankContext& context, const AdamWOptions& options, int64_t step) {
  const kernels::ElementType type = context.element();
  if (!states_on_host_) {
    UpdateWith(context.device->kernels(), type, options, step, own_gradients_, own_weights_);
    return;
  }
  const auto on_host = [&](const at::Tensor& tensor) {
    return context.host_memory.Allocate(tensor.numel(), tensor.scalar_type(),
                                        context.device->torch_device());
  };
  const at::Tensor gradients = on_host(own_gradients_);
  const at::Tensor weights = on_host(own_weights_);
  gradients.copy_(own_gradients_);
  // With a master copy, weights are only written.
  if (!master_.defined()) weights.copy_(own_weights_);
  UpdateWith(HostKernels(), type, options, step, gradients, weights);
  own_weights_.copy_(weights);
}

void FlatUnit::UpdateWith(const kernels::Kernels& kernels, kernels::ElementType type,
                          const AdamWOptions& options, int64_t step, const at::Tensor& gradients,
                          const at::Tensor& weights) const {
  const auto from = [](const at::Tensor& own, int64_t offset) -> void* {
    if (!own.defined()) return nullptr;
    return static_cast<char*>(own.mutable_data_ptr()) +
           offset * static_cast<int64_t>(own.element_size());
  };
  const int64_t without_second = shard_elements_ - second_moment_.numel();
  // Updates elements [begin, end) of the unit, as far as they are this rank's.
  const auto run = [&](int64_t begin, int64_t end, double weight_decay) {
    const auto [offset, count] = OwnRangeOf(begin, end);
    if (count <= 0) return;
    kernels.Run(kernels::AdamW{.type = type,
                               .count = count,
                               .learning_rate = options.learning_rate,
                               .beta1 = options.beta1,
                               .beta2 = options.beta2,
                               .epsilon = options.epsilon,
                               .weight_decay = weight_decay,
                               .step = step,
                               .gradient = from(gradients, offset),
                               .first_moment = from(first_moment_, offset),
                               .second_moment = from(second_moment_, offset - without_second),
                               .master = from(master_, offset),
                               .weights = from(weights, offset)});
  };
  const int64_t decayed_elements = matrix_elements_ + router_elements_;
  run(orthogonal_elements_, decayed_elements, options.weight_decay);
  run(decayed_elements, elements_, 0.0);
}

Pending FlatUnit::GatherWeights() {
  if (zero_ == 0) return {};
  if (!keeps_weights_) {
    weights_ = at::empty({padded_elements_}, own_weights_.options());
    ViewWeights();
  }
  return replicas_.shards->AllGather(weights_, own_weights_);
}

void FlatUnit::ReleaseWeights() {
  if (keeps_weights_) return;
  weight_views_.clear();
  ReleaseStorage(weights_);
  weights_.reset();
}

}  // namespace meshwright::worker
