#include "executor/worker/run/peak_flops.h"

#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>

#include <algorithm>
#include <chrono>

#include "executor/worker/comm/barrier.h"
#include "executor/worker/comm/memory_account.h"

namespace meshwright::worker {
namespace {

// Takes the best of a few windows, each long enough for ranks that share cores to alternate many
// times.
constexpr int kWindows = 3;
constexpr double kWindowSeconds = 0.3;

void WaitForAll(RankContext& context) {
  if (context.groups.world != nullptr) Barrier(*context.groups.world, *context.device);
}

// Returns this rank's FLOP/s over one window in which all ranks work.
double MeasureWindow(RankContext& context, const at::Tensor& a, const at::Tensor& b,
                     at::Tensor& product) {
  WaitForAll(context);
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  int64_t products = 0;
  double seconds = 0.0;
  while (seconds < kWindowSeconds) {
    at::mm_out(product, a, b);
    context.device->Synchronize();
    ++products;
    seconds = std::chrono::duration<double>(Clock::now() - start).count();
  }
  const auto width = static_cast<double>(a.size(0));
  return 2.0 * width * width * width * static_cast<double>(products) / seconds;
}

}  // namespace

double MeasurePeakFlops(RankContext& context) {
  const ScopedMemoryAccount uncounted(nullptr);
  const int64_t size = context.device->torch_device().is_cpu() ? 1024 : 8192;
  // Constant inputs would let a GPU draw less power and clock higher.
  const at::Tensor a = at::randn({size, size}, context.options());
  const at::Tensor b = at::randn({size, size}, context.options());
  at::Tensor product = at::mm(a, b);
  double best_flops = 0.0;
  for (int window = 0; window < kWindows; ++window) {
    best_flops = std::max(best_flops, MeasureWindow(context, a, b, product));
  }
  // No rank may start training while others still measure.
  WaitForAll(context);
  return best_flops;
}

}  // namespace meshwright::worker
