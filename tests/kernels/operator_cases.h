// One call of every fused operator on pseudo-random operands, so that implementations can be
// compared with the reference.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/kernels.h"

namespace meshwright::kernels {

// Where an implementation's arrays live.
class Memory {
 public:
  virtual ~Memory() = default;
  // Memory that lives as long as this object.
  virtual void* Allocate(size_t bytes) = 0;
  virtual void Upload(void* to, const void* from, size_t bytes) = 0;
  virtual void Download(void* to, const void* from, size_t bytes) = 0;
};

class HostMemory final : public Memory {
 public:
  void* Allocate(size_t bytes) override;
  void Upload(void* to, const void* from, size_t bytes) override;
  void Download(void* to, const void* from, size_t bytes) override;

 private:
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
};

struct OperatorCase {
  std::string name;
  // Runs the operator and returns every array that it wrote in one vector.
  std::function<std::vector<double>(const Kernels&, Memory&, ElementType)> run;
};

// Shapes are odd, so that vector code meets its remainders; one is larger than a thread's share.
std::vector<OperatorCase> OperatorCases();

// Largest difference over the largest magnitude of the reference.
double RelativeError(const std::vector<double>& actual, const std::vector<double>& reference);

inline constexpr ElementType kElementTypes[] = {ElementType::kFp32, ElementType::kBf16,
                                                ElementType::kFp64};
std::string TypeName(ElementType type);

// What rounding alone may cause.
double Tolerance(ElementType type);

}  // namespace meshwright::kernels
