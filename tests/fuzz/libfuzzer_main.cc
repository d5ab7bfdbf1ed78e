// One target of tests/fuzz/targets.h as libFuzzer calls it; MESHWRIGHT_FUZZ_TARGET is its name.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const meshwright::fuzz::Target* const kTarget = [] {
    for (const auto& target : meshwright::fuzz::kTargets) {
      if (target.name == MESHWRIGHT_FUZZ_TARGET) return &target;
    }
    __builtin_trap();
  }();
  kTarget->run({reinterpret_cast<const char*>(data), size});
  return 0;
}
