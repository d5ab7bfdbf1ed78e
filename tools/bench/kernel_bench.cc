// Rates of the fused operators: bytes that each has to move (every input read once, every output
// written once) per second, and what share of this machine's own copy bandwidth that is.
//
// Buffers are far larger than the caches. One thread per core, like the worker's.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "kernels/kernels.h"

namespace meshwright::kernels {
namespace {

// A shape like some micro-batches of an 8B model: tokens, hidden, FFN and head width, vocabulary.
constexpr int64_t kTokens = 16384;
constexpr int64_t kHidden = 4096;
constexpr int64_t kFfn = 8192;
constexpr int64_t kHeadDim = 128;
constexpr int64_t kVocab = 16384;
constexpr int64_t kParameters = 128 << 20;

// Threads that wait for loops, as a thread pool of the matrix library would.
class Pool {
 public:
  static Pool& Get() {
    static auto* const kPool = new Pool(std::max(1u, std::thread::hardware_concurrency()));
    return *kPool;
  }

  void Run(int64_t count, int64_t grain, RangeBody body, void* state) {
    const auto workers = static_cast<int64_t>(threads_);
    const int64_t share = std::max(grain, (count + workers - 1) / workers);
    const int64_t ranges = (count + share - 1) / share;
    if (ranges <= 1) return body(state, 0, count);
    std::unique_lock lock(mutex_);
    job_ = [=](int64_t range) { body(state, range * share, std::min(count, (range + 1) * share)); };
    next_ = 0;
    ranges_ = ranges;
    open_ = ranges;
    wake_.notify_all();
    done_.wait(lock, [&] { return open_ == 0; });
  }

 private:
  explicit Pool(unsigned threads) : threads_(threads) {
    for (unsigned i = 0; i < threads; ++i) std::thread([this] { Work(); }).detach();
  }

  void Work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return next_ < ranges_; });
      const int64_t range = next_++;
      const auto job = job_;
      lock.unlock();
      job(range);
      lock.lock();
      if (--open_ == 0) done_.notify_one();
    }
  }

  const unsigned threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::function<void(int64_t)> job_;
  int64_t next_ = 0;
  int64_t ranges_ = 0;
  int64_t open_ = 0;
};

Parallel OnAllCores() {
  return {[](int64_t count, int64_t grain, RangeBody body, void* state) {
    Pool::Get().Run(count, grain, body, state);
  }};
}

int64_t Size(ElementType type) { return type == ElementType::kFp32 ? 4 : 2; }

// Memory of one operator; filled, so that pages exist and no value is special.
class Buffers {
 public:
  void* Elements(ElementType type, int64_t count) {
    void* memory = Bytes(count * Size(type));
    // 1.0 in either type.
    if (type == ElementType::kFp32) {
      std::fill_n(static_cast<float*>(memory), count, 1.0f);
    } else {
      std::fill_n(static_cast<uint16_t*>(memory), count, uint16_t{0x3f80});
    }
    return memory;
  }
  float* Floats(int64_t count) { return static_cast<float*>(Elements(ElementType::kFp32, count)); }
  double* Doubles(int64_t count) { return static_cast<double*>(Bytes(count * 8)); }
  int32_t* Tokens(int64_t count) {
    auto* tokens = static_cast<int32_t*>(Bytes(count * 4));
    for (int64_t i = 0; i < count; ++i) tokens[i] = static_cast<int32_t>(i * 7919 % kVocab);
    return tokens;
  }

 private:
  void* Bytes(int64_t bytes) {
    memory_.emplace_back(static_cast<size_t>(bytes));
    return memory_.back().data();
  }

  std::vector<std::vector<std::byte>> memory_;
};

// An operator on buffers of its own, and the bytes that one run has to move.
struct Case {
  std::function<void(const Kernels&)> run;
  int64_t bytes = 0;
};

Case NormForward(Buffers& b, ElementType t) {
  const RmsNormForward args{t,
                            kTokens,
                            kHidden,
                            1e-5,
                            b.Elements(t, kTokens * kHidden),
                            nullptr,
                            nullptr,
                            b.Elements(t, kHidden),
                            b.Elements(t, kTokens * kHidden),
                            b.Floats(kTokens)};
  return {[args](const Kernels& k) { k.Run(args); }, 2 * kTokens * kHidden * Size(t)};
}

Case NormBackward(Buffers& b, ElementType t) {
  const RmsNormBackward args{t,
                             kTokens,
                             kHidden,
                             b.Elements(t, kTokens * kHidden),
                             b.Elements(t, kTokens * kHidden),
                             b.Elements(t, kHidden),
                             b.Floats(kTokens),
                             b.Elements(t, kTokens * kHidden),
                             b.Elements(t, kTokens * kHidden),
                             b.Floats(kHidden)};
  return {[args](const Kernels& k) { k.Run(args); }, 4 * kTokens * kHidden * Size(t)};
}

Case ActivationForward(Buffers& b, ElementType t) {
  const SwigluForward args{t, kTokens, kFfn, b.Elements(t, 2 * kTokens * kFfn),
                           b.Elements(t, kTokens * kFfn)};
  return {[args](const Kernels& k) { k.Run(args); }, 3 * kTokens * kFfn * Size(t)};
}

Case ActivationBackward(Buffers& b, ElementType t) {
  const SwigluBackward args{t, kTokens, kFfn, b.Elements(t, kTokens * kFfn),
                            b.Elements(t, 2 * kTokens * kFfn)};
  return {[args](const Kernels& k) { k.Run(args); }, 5 * kTokens * kFfn * Size(t)};
}

Case Rotary(Buffers& b, ElementType t) {
  const int64_t heads = kHidden / kHeadDim;
  void* x = b.Elements(t, kTokens * kHidden);
  const Rope args{t,
                  kTokens,
                  kTokens,
                  heads,
                  kHeadDim,
                  false,
                  b.Floats(kTokens * kHeadDim / 2),
                  b.Floats(kTokens * kHeadDim / 2),
                  x,
                  kHidden,
                  kHeadDim,
                  x,
                  kHidden,
                  kHeadDim};
  return {[args](const Kernels& k) { k.Run(args); },
          2 * kTokens * kHidden * Size(t) + 4 * kTokens * kHeadDim};
}

Case LossStatistics(Buffers& b, ElementType t) {
  const CrossEntropyStatistics args{t,
                                    kTokens,
                                    kVocab,
                                    0,
                                    b.Elements(t, kTokens * kVocab),
                                    b.Tokens(kTokens),
                                    b.Floats(kTokens),
                                    b.Floats(kTokens),
                                    b.Floats(kTokens)};
  return {[args](const Kernels& k) { k.Run(args); }, kTokens * kVocab * Size(t)};
}

Case LossBackward(Buffers& b, ElementType t) {
  const CrossEntropyBackward args{t,
                                  kTokens,
                                  kVocab,
                                  0,
                                  1e-6f,
                                  b.Tokens(kTokens),
                                  b.Floats(kTokens),
                                  b.Elements(t, kTokens * kVocab)};
  return {[args](const Kernels& k) { k.Run(args); }, 2 * kTokens * kVocab * Size(t)};
}

Case GradientAccumulation(Buffers& b, ElementType t) {
  const Accumulate args{t, kParameters, b.Elements(t, kParameters), b.Floats(kParameters)};
  return {[args](const Kernels& k) { k.Run(args); }, kParameters * (Size(t) + 8)};
}

Case GradientNorm(Buffers& b, ElementType t) {
  const SumOfSquares args{t, kParameters, b.Elements(t, kParameters),
                          b.Doubles(SumOfSquares::kPartialSums), b.Doubles(1)};
  return {[args](const Kernels& k) { k.Run(args); }, kParameters * Size(t)};
}

Case Optimizer(Buffers& b, ElementType t) {
  const bool has_master = t == ElementType::kBf16;
  const AdamW args{t,
                   kParameters,
                   1e-4f,
                   0.9f,
                   0.95f,
                   1e-8f,
                   0.1f,
                   1,
                   b.Floats(kParameters),
                   b.Floats(kParameters),
                   b.Floats(kParameters),
                   has_master ? b.Floats(kParameters) : nullptr,
                   b.Elements(t, kParameters)};
  // Gradient read, moments read and written; weights read and written in fp32, and in bf16 written
  // beside their master copy.
  return {[args](const Kernels& k) { k.Run(args); },
          kParameters * (4 + 16 + 8 + (has_master ? 2 : 0))};
}

// Bytes read and written per second by copies on all cores, best of a few.
double CopyBytesPerS() {
  static const double kRate = [] {
    constexpr int64_t kBytes = 1 << 30;
    std::vector<char> from(kBytes, 1);
    std::vector<char> to(kBytes, 2);
    struct State {
      const char* from;
      char* to;
    } state{from.data(), to.data()};
    double best_s = 1e9;
    for (int i = 0; i < 8; ++i) {
      const auto start = std::chrono::steady_clock::now();
      Pool::Get().Run(
          kBytes, 1 << 20,
          [](void* s, int64_t begin, int64_t end) {
            const auto* copy = static_cast<State*>(s);
            std::memcpy(copy->to + begin, copy->from + begin, static_cast<size_t>(end - begin));
          },
          &state);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      best_s = std::min(best_s, took.count());
    }
    return 2.0 * kBytes / best_s;
  }();
  return kRate;
}

template <Case (*kMake)(Buffers&, ElementType)>
void Operator(benchmark::State& state) {
  const auto type = static_cast<ElementType>(state.range(0));
  Buffers buffers;
  const Case operator_case = kMake(buffers, type);
  const auto kernels = MakeCpuKernels(OnAllCores());
  const auto start = std::chrono::steady_clock::now();
  for (auto _ : state) operator_case.run(*kernels);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const double bytes_per_s = static_cast<double>(operator_case.bytes) *
                             static_cast<double>(state.iterations()) / took.count();
  state.counters["GB/s"] = bytes_per_s / 1e9;
  state.counters["of_copy"] = bytes_per_s / CopyBytesPerS();
  state.SetLabel(type == ElementType::kFp32 ? "fp32" : "bf16");
}

#define MESHWRIGHT_OPERATOR(name)                     \
  BENCHMARK_TEMPLATE(Operator, name)                  \
      ->Name(#name)                                   \
      ->Arg(static_cast<int64_t>(ElementType::kFp32)) \
      ->Arg(static_cast<int64_t>(ElementType::kBf16)) \
      ->UseRealTime()                                 \
      ->Unit(benchmark::kMillisecond)

MESHWRIGHT_OPERATOR(NormForward);
MESHWRIGHT_OPERATOR(NormBackward);
MESHWRIGHT_OPERATOR(ActivationForward);
MESHWRIGHT_OPERATOR(ActivationBackward);
MESHWRIGHT_OPERATOR(Rotary);
MESHWRIGHT_OPERATOR(LossStatistics);
MESHWRIGHT_OPERATOR(LossBackward);
MESHWRIGHT_OPERATOR(GradientAccumulation);
MESHWRIGHT_OPERATOR(GradientNorm);
MESHWRIGHT_OPERATOR(Optimizer);

}  // namespace
}  // namespace meshwright::kernels

BENCHMARK_MAIN();
