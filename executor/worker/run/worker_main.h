// WorkerMain() is the main function of meshwright-worker, which runs one rank of a trial or of a
// device benchmark.
//
// It reads the plan as JSON from standard input and writes events to the descriptor --event-fd (or
// MESHWRIGHT_EVENT_FD). Rank and rendezvous come from torchrun's environment variables.
#pragma once

#include "executor/worker/run/worker.h"

namespace meshwright::worker {

// Returns the process's exit code.
int WorkerMain(int argc, char** argv, const WorkerHooks& hooks);

}  // namespace meshwright::worker
