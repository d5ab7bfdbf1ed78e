#include "kernels/cpu/norm_rows.h"

namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT {
namespace {

template <typename T>
void ForwardRow(const HeadNormForward& a, int64_t row) {
  using A = Accumulator<T>;
  for (int64_t head = 0; head < a.heads; ++head) {
    const T* x = static_cast<const T*>(a.x) + row * a.x_stride + head * a.x_head_stride;
    T* y = static_cast<T*>(a.y) + row * a.y_stride + head * a.y_head_stride;
    static_cast<A*>(a.rstd)[row * a.heads + head] = NormRow(
        x, static_cast<const T*>(a.weight), y, SquaresOf(x, a.head_dim), a.epsilon, a.head_dim);
  }
}

// `index` counts the heads of all rows.
template <typename T>
void BackwardHead(const HeadNormBackward& a, int64_t index, Accumulator<T>* sums) {
  const int64_t row = index / a.heads;
  const int64_t head = index % a.heads;
  GradientRow(static_cast<const T*>(a.dy) + row * a.dy_stride + head * a.dy_head_stride,
              static_cast<const T*>(a.x) + row * a.x_stride + head * a.x_head_stride,
              static_cast<const T*>(a.weight), static_cast<const T*>(nullptr),
              static_cast<T*>(a.dx) + row * a.dx_stride + head * a.dx_head_stride,
              static_cast<const Accumulator<T>*>(a.rstd)[index], sums, a.head_dim);
}

}  // namespace

void Run(const HeadNormForward& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) {
    ForRange(parallel, args.rows, args.heads * args.head_dim, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) ForwardRow<decltype(element)>(args, row);
    });
  });
}

void Run(const HeadNormBackward& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    using A = Accumulator<T>;
    RowGroups<A>(args.rows * args.heads, args.head_dim, static_cast<A*>(args.weight_gradient))
        .Run(parallel, [&](int64_t index, A* sums) { BackwardHead<T>(args, index, sums); });
  });
}

}  // namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT
