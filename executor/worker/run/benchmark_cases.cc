#include "executor/worker/run/benchmark_cases.h"

#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/worker/model/linear.h"

namespace meshwright::worker {
namespace {

struct MatmulShape {
  int64_t m;
  int64_t n;
  int64_t k;

  double Flops() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
};

// Square products, and those of a transformer layer of width `hidden` on `tokens` tokens: whole
// projections, their columns and rows under tensor parallelism, and a weight's gradient.
struct MatmulShapes {
  std::vector<MatmulShape> square;
  std::vector<MatmulShape> all;  // by increasing work
};

MatmulShapes ShapesFor(bool cpu) {
  MatmulShapes shapes;
  for (const int64_t size : cpu ? std::array<int64_t, 5>{128, 256, 512, 1024, 2048}
                                : std::array<int64_t, 5>{512, 1024, 2048, 4096, 8192}) {
    shapes.square.push_back({size, size, size});
  }
  const int64_t tokens = cpu ? 1024 : 8192;
  const int64_t hidden = cpu ? 512 : 4096;
  shapes.all = shapes.square;
  for (const MatmulShape& shape : {MatmulShape{tokens, 4 * hidden, hidden},
                                   {tokens, hidden, hidden},
                                   {tokens, hidden / 4, hidden},
                                   {tokens, hidden, hidden / 4},
                                   {tokens, hidden, hidden / 8},
                                   {hidden, hidden, tokens}}) {
    shapes.all.push_back(shape);
  }
  std::stable_sort(
      shapes.all.begin(), shapes.all.end(),
      [](const MatmulShape& a, const MatmulShape& b) { return a.Flops() < b.Flops(); });
  return shapes;
}

BenchmarkCase MatmulCase(const BenchmarkRanks& ranks, planner::Precision precision,
                         const MatmulShape& shape, bool alone) {
  const int32_t at_once = alone ? 1 : ranks.ranks;
  return {
      .series = absl::StrCat("matmul ", precision == planner::Precision::kFp32, alone),
      .work = shape.Flops(),
      .takes_part = !alone || ranks.rank == 0,
      .needed = false,
      .prepare =
          [&device = ranks.device, precision, shape] {
            const auto options =
                at::TensorOptions()
                    .dtype(precision == planner::Precision::kFp32 ? at::kFloat : at::kBFloat16)
                    .device(device.torch_device());
            // Constant inputs would let a GPU draw less power and clock higher.
            return
                [x = at::randn({shape.m, shape.k}, options),
                 weight = at::randn({shape.n, shape.k}, options)] { LinearForward(x, weight, {}); };
          },
      .tell =
          [=](const planner::Timing& time, trial::MeasuredEvent& event) {
            event.matmul = {.precision = precision,
                            .m = shape.m,
                            .n = shape.n,
                            .k = shape.k,
                            .ranks = at_once,
                            .time = time};
          },
  };
}

void AddMatmuls(const BenchmarkRanks& ranks, std::vector<BenchmarkCase>& cases) {
  const MatmulShapes shapes = ShapesFor(ranks.device.torch_device().is_cpu());
  for (const planner::Precision precision :
       {planner::Precision::kFp32, planner::Precision::kBf16}) {
    for (const MatmulShape& shape : shapes.all) {
      cases.push_back(MatmulCase(ranks, precision, shape, /*alone=*/false));
    }
    if (ranks.ranks == 1) continue;
    for (const MatmulShape& shape : shapes.square) {
      cases.push_back(MatmulCase(ranks, precision, shape, /*alone=*/true));
    }
  }
}

BenchmarkCase CopyCase(const BenchmarkRanks& ranks, int64_t bytes, bool alone, bool needed) {
  const int32_t at_once = alone ? 1 : ranks.ranks;
  return {
      .series = absl::StrCat("copy ", alone),
      .work = static_cast<double>(bytes),
      .takes_part = !alone || ranks.rank == 0,
      .needed = needed,
      .prepare =
          [&device = ranks.device, bytes] {
            const auto options =
                at::TensorOptions().dtype(at::kFloat).device(device.torch_device());
            return [from = at::zeros({bytes / 4}, options), to = at::zeros({bytes / 4}, options)] {
              to.copy_(from, /*non_blocking=*/true);
            };
          },
      .tell =
          [=](const planner::Timing& time, trial::MeasuredEvent& event) {
            event.copy = {.bytes = bytes, .ranks = at_once, .time = time};
          },
  };
}

// From a single element, which takes as long as a kernel launch, to well beyond the caches.
void AddCopies(const BenchmarkRanks& ranks, std::vector<BenchmarkCase>& cases) {
  constexpr int64_t kMemoryShare = 16;  // two tensors of the largest size are an eighth
  const bool cpu = ranks.device.torch_device().is_cpu();
  std::vector<int64_t> sizes = {4, 64 << 10, 1 << 20, 8 << 20, 64 << 20};
  if (!cpu) sizes = {4, 1 << 20, 16 << 20, 128 << 20, 1 << 30};
  std::erase_if(sizes, [&](int64_t bytes) { return bytes > ranks.memory_bytes / kMemoryShare; });
  for (const bool alone : {false, true}) {
    if (alone && ranks.ranks == 1) continue;
    for (const int64_t bytes : sizes) {
      cases.push_back(CopyCase(ranks, bytes, alone, !alone && bytes == sizes.back()));
    }
  }
}

// One message to the neighbour and one back: twice the reported time.
std::function<void()> PingPong(Communicator& pair, const at::Tensor& tensor) {
  return [&pair, tensor] {
    const int32_t other = 1 - pair.rank();
    for (const bool sends : {pair.rank() == 0, pair.rank() == 1}) {
      (sends ? pair.Send(tensor, other) : pair.Receive(tensor, other)).Wait();
    }
  };
}

std::function<void()> CollectiveOn(Communicator& group, planner::CollectiveKind kind,
                                   const at::Tensor& full) {
  const int64_t part = full.numel() / group.size();
  switch (kind) {
    case planner::CollectiveKind::kAllReduce:
      return [&group, full] { group.AllReduce(full, Reduction::kSum).Wait(); };
    case planner::CollectiveKind::kAllGather:
      return [&group, full, mine = at::zeros({part}, full.options())] {
        group.AllGather(full, mine).Wait();
      };
    case planner::CollectiveKind::kReduceScatter:
      return [&group, full, mine = at::zeros({part}, full.options())] {
        group.ReduceScatter(mine, full).Wait();
      };
    case planner::CollectiveKind::kSend:
      return PingPong(group, full);
    case planner::CollectiveKind::kAllToAll:
    case planner::CollectiveKind::kBroadcast:
    case planner::CollectiveKind::kReceive:
      break;  // not among the cases
  }
  return {};
}

// `group` is null on a rank that waits.
BenchmarkCase CollectiveCase(const BenchmarkRanks& ranks, planner::CollectiveKind kind,
                             int64_t bytes, int32_t size, int32_t groups, Communicator* group) {
  const int64_t elements = std::max<int64_t>(1, bytes / 4 / size) * size;
  const double operations = kind == planner::CollectiveKind::kSend ? 2.0 : 1.0;
  return {
      .series = absl::StrCat("collective ", static_cast<int>(kind), " ", size),
      .work = static_cast<double>(bytes),
      .takes_part = group != nullptr,
      .needed = false,
      .prepare =
          [&device = ranks.device, kind, elements, group] {
            const auto options =
                at::TensorOptions().dtype(at::kFloat).device(device.torch_device());
            return CollectiveOn(*group, kind, at::zeros({elements}, options));
          },
      .tell =
          [=](const planner::Timing& time, trial::MeasuredEvent& event) {
            const planner::Timing one = {.median_s = time.median_s / operations,
                                         .best_s = time.best_s / operations};
            event.collective = {
                .kind = kind, .bytes = 4 * elements, .ranks = size, .groups = groups, .time = one};
          },
  };
}

void AddCollectives(const BenchmarkRanks& ranks, std::vector<BenchmarkCase>& cases) {
  if (ranks.ranks == 1) return;
  constexpr int64_t kSmallest = 1 << 10;
  constexpr int64_t kLargest = 64 << 20;
  constexpr std::array kInGroups = {planner::CollectiveKind::kAllReduce,
                                    planner::CollectiveKind::kAllGather,
                                    planner::CollectiveKind::kReduceScatter};
  const int32_t pairs = ranks.ranks / 2;
  const auto add = [&](planner::CollectiveKind kind, int32_t size, int32_t groups,
                       Communicator* group) {
    for (int64_t bytes = kSmallest; bytes <= kLargest; bytes *= 4) {
      cases.push_back(CollectiveCase(ranks, kind, bytes, size, groups, group));
    }
  };
  for (const planner::CollectiveKind kind : kInGroups) add(kind, ranks.ranks, 1, ranks.world);
  if (ranks.ranks > 2) {
    for (const planner::CollectiveKind kind : kInGroups) add(kind, 2, pairs, ranks.pair);
  }
  add(planner::CollectiveKind::kSend, 2, pairs, ranks.messages);
}

}  // namespace

std::vector<BenchmarkCase> BenchmarkCases(const BenchmarkRanks& ranks) {
  std::vector<BenchmarkCase> cases;
  AddCopies(ranks, cases);
  AddMatmuls(ranks, cases);
  AddCollectives(ranks, cases);
  return cases;
}

}  // namespace meshwright::worker
