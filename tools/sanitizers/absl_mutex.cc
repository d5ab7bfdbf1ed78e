// Abseil's mutex and condition variable, for programs under the thread sanitizer.
//
// A system's Abseil library is compiled without the sanitizer. The sanitizer would therefore not
// see the order that its mutexes enforce, and would report every guarded access as a race. A
// definition in the program precedes a definition in a shared library, also for callers inside
// shared libraries. Callers may rely on Abseil's contract except for fairness and speed: a thread
// that waits for a lock or for a lock's condition checks again after a pause. A thread that waits
// for a signal sleeps until the signal comes, because a program with gRPC has dozens of such
// threads.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <ctime>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace absl {
ABSL_NAMESPACE_BEGIN
namespace {

// A mutex holds 0 if it is free, kWriter, or how many readers hold it.
constexpr intptr_t kWriter = -1;

// The pauses grow, because a lock that is not free immediately is rarely free soon.
class Pauses {
 public:
  void Next() {
    SleepFor(length_);
    length_ = std::min(2 * length_, Milliseconds(1));
  }

 private:
  Duration length_ = Microseconds(20);
};

// The kernel compares the lower half of a counter.
static_assert(std::endian::native == std::endian::little);
uint32_t* LowerHalf(std::atomic<intptr_t>* counter) { return reinterpret_cast<uint32_t*>(counter); }

// Returns at once where the counter no longer has the value, else on a signal, after `longest`, or
// in vain.
void SleepWhile(std::atomic<intptr_t>* counter, intptr_t value, Duration longest) {
  const timespec time = ToTimespec(std::max(longest, ZeroDuration()));
  syscall(SYS_futex, LowerHalf(counter), FUTEX_WAIT_PRIVATE, static_cast<uint32_t>(value), &time,
          nullptr, 0);
}

void WakeAll(std::atomic<intptr_t>* counter) {
  syscall(SYS_futex, LowerHalf(counter), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

Mutex::~Mutex() = default;

bool Mutex::TryLock() {
  intptr_t holders = 0;
  return mu_.compare_exchange_strong(holders, kWriter, std::memory_order_acq_rel);
}

void Mutex::Lock() {
  for (Pauses pauses; !TryLock(); pauses.Next()) {
  }
}

void Mutex::Unlock() { mu_.store(0, std::memory_order_release); }

bool Mutex::ReaderTryLock() {
  intptr_t holders = mu_.load(std::memory_order_relaxed);
  while (holders != kWriter) {
    if (mu_.compare_exchange_weak(holders, holders + 1, std::memory_order_acq_rel)) return true;
  }
  return false;
}

void Mutex::ReaderLock() {
  for (Pauses pauses; !ReaderTryLock(); pauses.Next()) {
  }
}

void Mutex::ReaderUnlock() { mu_.fetch_sub(1, std::memory_order_acq_rel); }

void Mutex::AssertHeld() const {
  if (mu_.load(std::memory_order_relaxed) != kWriter) std::abort();
}

void Mutex::AssertReaderHeld() const {
  if (mu_.load(std::memory_order_relaxed) == 0) std::abort();
}

bool Mutex::AwaitWithDeadline(const Condition& condition, Time deadline) {
  const bool writer = mu_.load(std::memory_order_relaxed) == kWriter;
  Pauses pauses;
  while (!condition.Eval()) {
    if (Now() >= deadline) return false;
    writer ? Unlock() : ReaderUnlock();
    pauses.Next();
    writer ? Lock() : ReaderLock();
  }
  return true;
}

bool Mutex::AwaitWithTimeout(const Condition& condition, Duration timeout) {
  return AwaitWithDeadline(condition, Now() + timeout);
}

void Mutex::Await(const Condition& condition) { AwaitWithDeadline(condition, InfiniteFuture()); }

bool Mutex::LockWhenWithDeadline(const Condition& condition, Time deadline) {
  Lock();
  return AwaitWithDeadline(condition, deadline);
}

bool Mutex::LockWhenWithTimeout(const Condition& condition, Duration timeout) {
  return LockWhenWithDeadline(condition, Now() + timeout);
}

void Mutex::LockWhen(const Condition& condition) {
  LockWhenWithDeadline(condition, InfiniteFuture());
}

bool Mutex::ReaderLockWhenWithDeadline(const Condition& condition, Time deadline) {
  ReaderLock();
  return AwaitWithDeadline(condition, deadline);
}

bool Mutex::ReaderLockWhenWithTimeout(const Condition& condition, Duration timeout) {
  return ReaderLockWhenWithDeadline(condition, Now() + timeout);
}

void Mutex::ReaderLockWhen(const Condition& condition) {
  ReaderLockWhenWithDeadline(condition, InfiniteFuture());
}

// A condition variable holds how often it was signalled; a signal wakes all that wait.
CondVar::~CondVar() = default;

bool CondVar::WaitWithDeadline(Mutex* mutex, Time deadline) {
  const intptr_t before = cv_.load(std::memory_order_acquire);
  bool late = false;
  while (!late && cv_.load(std::memory_order_acquire) == before) {
    mutex->Unlock();
    SleepWhile(&cv_, before, std::min(deadline - Now(), Seconds(1)));
    late = Now() >= deadline;
    mutex->Lock();
  }
  return late;
}

bool CondVar::WaitWithTimeout(Mutex* mutex, Duration timeout) {
  return WaitWithDeadline(mutex, Now() + timeout);
}

void CondVar::Wait(Mutex* mutex) { WaitWithDeadline(mutex, InfiniteFuture()); }

// May have gone with its memory once it was counted: the kernel wakes nobody then.
void CondVar::Signal() {
  std::atomic<intptr_t>* const counter = &cv_;
  counter->fetch_add(1, std::memory_order_acq_rel);
  WakeAll(counter);
}

void CondVar::SignalAll() { Signal(); }

ABSL_NAMESPACE_END
}  // namespace absl

// The sanitizer ignores accesses among shared libraries that are compiled without it.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" const char* __tsan_default_options() {
  return "ignore_noninstrumented_modules=1:second_deadlock_stack=1";
}

// gRPC's headers are compiled with the sanitizer, but the reference counts in libgrpc++, on which
// they rely, are not. NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" const char* __tsan_default_suppressions() { return "race:grpc::internal::\n"; }
