#include "tools/bench/thread_pool.h"

#include <algorithm>
#include <thread>

namespace meshwright::kernels {

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

Parallel OnAllCores() {
  return {[](int64_t count, int64_t grain, RangeBody body, void* state) {
    ThreadPool::Get().Run(count, grain, body, state);
  }};
}

}  // namespace meshwright::kernels
