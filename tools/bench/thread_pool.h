// ThreadPool runs loops on waiting threads, one per core, as the matrix library's thread pool does.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

#include "kernels/parallel.h"

namespace meshwright::kernels {

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

// Returns a Parallel that runs loops on ThreadPool::Get().
Parallel OnAllCores();

}  // namespace meshwright::kernels
