// WorkerHooks lets a program built around a worker intervene in a rank's run. The worker itself has
// none: tests use them to provoke failures and to inspect state.
#pragma once

#include <cstdint>
#include <functional>

namespace meshwright::worker {

class Trainer;

struct WorkerHooks {
  std::function<void(Trainer& trainer)> before_training;        // may be empty
  std::function<void(int32_t rank, int32_t step)> before_step;  // from step 0; may be empty
};

}  // namespace meshwright::worker
