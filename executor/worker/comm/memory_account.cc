#include "executor/worker/comm/memory_account.h"

#include <c10/core/CPUAllocator.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <string>

namespace meshwright::worker {
namespace {

thread_local MemoryAccount* current_account = nullptr;

// Precedes every block.
struct Header {
  MemoryAccount* account;
  int64_t bytes;
};

// Keeps the data aligned for vector loads.
constexpr size_t kAlignment = 64;
static_assert(sizeof(Header) <= kAlignment);

Header* HeaderOf(void* data) {
  return reinterpret_cast<Header*>(static_cast<char*>(data) - kAlignment);
}

void Free(void* data) {
  if (data == nullptr) return;
  Header* header = HeaderOf(data);
  if (header->account != nullptr) header->account->Return(header->bytes);
  std::free(header);
}

class AccountingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return {nullptr, nullptr, &Free, c10::Device(c10::DeviceType::CPU)};
    MemoryAccount* account = current_account;
    const auto counted = static_cast<int64_t>(bytes);
    if (account != nullptr) account->Take(counted);
    const size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    void* block = std::aligned_alloc(kAlignment, rounded + kAlignment);
    if (block == nullptr) {
      if (account != nullptr) account->Return(counted);
      throw std::bad_alloc();
    }
    new (block) Header{.account = account, .bytes = counted};
    void* data = static_cast<char*>(block) + kAlignment;
    return {data, data, &Free, c10::Device(c10::DeviceType::CPU)};
  }

  c10::DeleterFnPtr raw_deleter() const override { return &Free; }

  void copy_data(void* to, const void* from, size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
};

}  // namespace

OutOfMemory::OutOfMemory(int64_t requested, int64_t held, int64_t limit)
    : std::runtime_error("out of memory: " + std::to_string(requested) + " bytes requested, " +
                         std::to_string(held) + " held, limit " + std::to_string(limit)),
      requested_bytes(requested),
      held_bytes(held),
      limit_bytes(limit) {}

void MemoryAccount::Take(int64_t bytes) {
  const int64_t before = held_.fetch_add(bytes);
  if (bytes > limit_ - before) {
    held_ -= bytes;
    throw OutOfMemory(bytes, before, limit_);
  }
  int64_t peak = peak_;
  while (before + bytes > peak && !peak_.compare_exchange_weak(peak, before + bytes)) {
  }
}

void MemoryAccount::Return(int64_t bytes) { held_ -= bytes; }

ScopedMemoryAccount::ScopedMemoryAccount(MemoryAccount* account) : previous_(current_account) {
  current_account = account;
}

ScopedMemoryAccount::~ScopedMemoryAccount() { current_account = previous_; }

void InstallAccountingAllocator() {
  static AccountingAllocator allocator;
  static std::once_flag once;
  // A priority above Torch's own allocators.
  std::call_once(once, [] { c10::SetCPUAllocator(&allocator, 200); });
}

}  // namespace meshwright::worker
