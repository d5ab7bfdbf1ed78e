// The command line of meshwright-worker: one rank of one trial, or of a device benchmark.
//
// Reads the plan as JSON from standard input and writes events to the descriptor --event-fd (or
// MESHWRIGHT_EVENT_FD); rank and rendezvous come from torchrun's environment variables.
#pragma once

#include "executor/worker/run/worker.h"

namespace meshwright::worker {

// Returns the process's exit code.
int WorkerMain(int argc, char** argv, const WorkerHooks& hooks);

}  // namespace meshwright::worker
