// meshwright-test-worker: the worker with the hooks of tests (tests/executor/trial/test_hooks.h).
#include <unistd.h>

#include <cstdlib>

#include "executor/worker/run/trainer.h"
#include "executor/worker/run/worker_main.h"
#include "tests/executor/trial/test_hooks.h"

namespace meshwright::worker {
namespace {

void BringAbout(trial::InjectedFault::Effect fault) {
  if (fault == trial::InjectedFault::Effect::kCrash) std::abort();
  while (true) ::pause();
}

WorkerHooks HooksOf(const trial::TestHooks& test) {
  WorkerHooks hooks;
  if (!test.gradients_folder.empty()) {
    hooks.before_training = [folder = test.gradients_folder](Trainer& trainer) {
      trainer.DumpGradientsTo(folder);
    };
  }
  if (test.fault.has_value()) {
    hooks.before_step = [fault = *test.fault](int32_t rank, int32_t step) {
      if (fault.rank == rank && fault.step == step) BringAbout(fault.kind);
    };
  }
  return hooks;
}

}  // namespace
}  // namespace meshwright::worker

int main(int argc, char** argv) {
  return meshwright::worker::WorkerMain(
      argc, argv, meshwright::worker::HooksOf(meshwright::trial::ReadTestHooks()));
}
