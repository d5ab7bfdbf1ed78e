// Measures the rates of the fused operators on this machine's cores: bytes that each has to move
// per second, and that rate as a share of the machine's own copy bandwidth. It uses one thread per
// core, like the worker.
//
// Rates are those of the fastest run, and copies are measured beside every operator, so that other
// work on the machine has little effect.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "kernels/parallel.h"
#include "tools/bench/operator_rates.h"

namespace meshwright::kernels {
namespace {

// Just large enough to exceed caches: the shorter a run, the more likely it is undisturbed.
constexpr int64_t kTokens = 4096;
constexpr int64_t kParameters = 32 << 20;

// Widths like those of an 8B model on two tensor parallel ranks.
BenchModel Model() {
  return {.name = "", .hidden = 4096, .ffn = 7168, .heads = 32, .head_dim = 128, .vocab = 4096};
}

class HostMemory final : public BenchMemory {
 private:
  void* Repeat(const void* pattern, int64_t pattern_bytes, int64_t times) override {
    const auto bytes = static_cast<size_t>(pattern_bytes);
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(bytes * static_cast<size_t>(times)));
    char* block = blocks_.back().get();
    for (int64_t i = 0; i < times; ++i) std::memcpy(block + i * pattern_bytes, pattern, bytes);
    return block;
  }

  std::vector<std::unique_ptr<char[]>> blocks_;
};

// Runs loops on waiting threads, one per core, as the matrix library's thread pool does.
class ThreadPool {
 public:
  // Lives as long as the process.
  static ThreadPool& Get();

  void Run(int64_t count, int64_t grain, RangeBody body, void* state);

 private:
  explicit ThreadPool(unsigned int threads);
  void Work();

  const unsigned int threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::function<void(int64_t)> job_;
  int64_t next_ = 0;
  int64_t ranges_ = 0;
  int64_t open_ = 0;
};

ThreadPool& ThreadPool::Get() {
  static auto* const pool = new ThreadPool(std::max(1u, std::thread::hardware_concurrency()));
  return *pool;
}

ThreadPool::ThreadPool(unsigned int threads) : threads_(threads) {
  for (unsigned int i = 0; i < threads; ++i) std::thread([this] { Work(); }).detach();
}

void ThreadPool::Run(int64_t count, int64_t grain, RangeBody body, void* state) {
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

void ThreadPool::Work() {
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

// Returns a Parallel that runs loops on ThreadPool::Get().
Parallel OnAllCores() {
  return {[](int64_t count, int64_t grain, RangeBody body, void* state) {
    ThreadPool::Get().Run(count, grain, body, state);
  }};
}

template <typename Body>
double SecondsOf(const Body& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Copies on all cores.
class Copy {
 public:
  static Copy& Get() {
    static auto* const copy = new Copy;
    return *copy;
  }

  // Returns bytes read and written per second, the best of all measurements so far.
  double Measure() {
    for (int i = 0; i < 10; ++i) {
      const double took_s = SecondsOf([&] {
        ThreadPool::Get().Run(
            kBytes, 1 << 20,
            [](void* state, int64_t begin, int64_t end) {
              auto* copy = static_cast<Copy*>(state);
              std::memcpy(copy->to_.data() + begin, copy->from_.data() + begin,
                          static_cast<size_t>(end - begin));
            },
            this);
      });
      best_s_ = std::min(best_s_, took_s);
    }
    return 2.0 * kBytes / best_s_;
  }

 private:
  static constexpr int64_t kBytes = 256 << 20;

  std::vector<char> from_ = std::vector<char>(kBytes, 1);
  std::vector<char> to_ = std::vector<char>(kBytes, 2);
  double best_s_ = 1e9;
};

}  // namespace
}  // namespace meshwright::kernels

int main(int argc, char** argv) {
  using namespace meshwright::kernels;
  RegisterOperators(
      {.tokens = kTokens,
       .parameters = kParameters,
       .models = {Model()},
       .make_memory = [] { return std::make_unique<HostMemory>(); },
       .make_kernels = [] { return MakeCpuKernels(OnAllCores()); },
       .seconds_of = [](const std::function<void()>& body) { return SecondsOf(body); },
       .copy_bytes_per_s = [] { return Copy::Get().Measure(); }});
  return RunBenchmarks(argc, argv);
}
