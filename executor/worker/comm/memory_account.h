// MemoryAccount counts and limits the memory of one rank on a CPU, so that a CPU trial can run out
// of memory like a GPU. The allocator charges the account of the allocating thread.
//
// The account counts the bytes that tensors request, without rounding. A free, on any thread,
// credits the account that was charged for the block. Allocations of threads without an account
// (Torch's own, Gloo's) are not counted.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <stdexcept>

namespace meshwright::worker {

// Thrown by an allocation that would exceed the limit.
class OutOfMemory : public std::runtime_error {
 public:
  OutOfMemory(int64_t requested, int64_t held, int64_t limit);

  const int64_t requested_bytes;
  const int64_t held_bytes;
  const int64_t limit_bytes;
};

// Thread-safe. REQUIRES: the account outlives every block charged to it.
class MemoryAccount {
 public:
  static constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

  explicit MemoryAccount(int64_t limit_bytes = kUnlimited) : limit_(limit_bytes) {}

  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;

  // Charges `bytes`. Throws OutOfMemory, and charges nothing, if that would exceed the limit.
  void Take(int64_t bytes);
  void Return(int64_t bytes);

  int64_t held_bytes() const { return held_; }
  int64_t peak_bytes() const { return peak_; }
  void ResetPeak() { peak_ = held_.load(); }
  void SetLimit(int64_t bytes) { limit_ = bytes; }

 private:
  std::atomic<int64_t> limit_;
  std::atomic<int64_t> held_{0};
  std::atomic<int64_t> peak_{0};
};

// While this object lives, allocations of its thread are charged to `account`, or to no account if
// `account` is null.
class ScopedMemoryAccount {
 public:
  explicit ScopedMemoryAccount(MemoryAccount* account);
  ~ScopedMemoryAccount();
  ScopedMemoryAccount(const ScopedMemoryAccount&) = delete;
  ScopedMemoryAccount& operator=(const ScopedMemoryAccount&) = delete;

 private:
  MemoryAccount* const previous_;
};

// Makes the counting allocator Torch's CPU allocator. Must be called before other threads use
// Torch.
void InstallAccountingAllocator();

}  // namespace meshwright::worker
