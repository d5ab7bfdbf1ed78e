// TestHooks holds options of a test's workers that a plan can't express. The test's worker
// (tests/executor/worker/test_worker.cc) reads them from the environment; the released worker does
// not.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "nlohmann/json.hpp"

namespace meshwright::trial {

// A failure that a worker provokes on purpose, so that tests exercise the real code for failures.
struct InjectedFault {
  enum class Effect { kCrash, kHang };
  Effect kind = Effect::kCrash;
  int32_t rank = 0;
  int32_t step = 0;  // provoked before this step, from 0
};

struct TestHooks {
  std::string gradients_folder = {};  // destination of the first step's gradients; empty: none
  std::optional<InjectedFault> fault = std::nullopt;
};

inline constexpr char kTestHooksVariable[] = "MESHWRIGHT_TEST_HOOKS";

// While this object lives, workers that this process starts read `hooks`.
class ScopedTestHooks {
 public:
  explicit ScopedTestHooks(const TestHooks& hooks) {
    nlohmann::json json = {{"gradients_folder", hooks.gradients_folder}};
    if (hooks.fault.has_value()) {
      json["fault"] = {{"hangs", hooks.fault->kind == InjectedFault::Effect::kHang},
                       {"rank", hooks.fault->rank},
                       {"step", hooks.fault->step}};
    }
    ::setenv(kTestHooksVariable, json.dump().c_str(), /*replace=*/1);
  }
  ~ScopedTestHooks() { ::unsetenv(kTestHooksVariable); }
  ScopedTestHooks(const ScopedTestHooks&) = delete;
  ScopedTestHooks& operator=(const ScopedTestHooks&) = delete;
};

// Returns empty hooks if the variable is not set. Throws nlohmann's exceptions on malformed text.
inline TestHooks ReadTestHooks() {
  const char* text = std::getenv(kTestHooksVariable);
  if (text == nullptr) return {};
  const nlohmann::json json = nlohmann::json::parse(text);
  TestHooks hooks{.gradients_folder = json.at("gradients_folder")};
  if (json.contains("fault")) {
    const nlohmann::json& fault = json["fault"];
    hooks.fault = InjectedFault{
        .kind = fault.at("hangs") ? InjectedFault::Effect::kHang : InjectedFault::Effect::kCrash,
        .rank = fault.at("rank"),
        .step = fault.at("step")};
  }
  return hooks;
}

}  // namespace meshwright::trial
