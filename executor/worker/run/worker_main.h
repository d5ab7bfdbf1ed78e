// The command line of meshwright-worker: one rank of one trial, or of a device benchmark.
//
// The plan comes as JSON on standard input, events leave on the descriptor --event-fd (or
// MESHWRIGHT_EVENT_FD), rank and rendezvous come from torchrun's environment variables.
#pragma once

#include "executor/worker/run/worker_hooks.h"

namespace meshwright::worker {

// Returns the process' exit code.
int WorkerMain(int argc, char** argv, const WorkerHooks& hooks);

}  // namespace meshwright::worker
