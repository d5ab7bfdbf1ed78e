// Memory is the memory of the device on which a test's operators run.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

namespace meshwright::kernels {

// An implementation's arrays live in this memory.
class Memory {
 public:
  virtual ~Memory() = default;
  // Returns memory that lives as long as this object.
  virtual void* Allocate(size_t bytes) = 0;
  virtual void Upload(void* to, const void* from, size_t bytes) = 0;
  virtual void Download(void* to, const void* from, size_t bytes) = 0;
};

class HostMemory final : public Memory {
 public:
  void* Allocate(size_t bytes) override {
    blocks_.push_back(std::make_unique<std::byte[]>(bytes));
    return blocks_.back().get();
  }
  void Upload(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
  void Download(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }

 private:
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
};

}  // namespace meshwright::kernels
