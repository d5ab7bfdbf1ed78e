// RunBenchmarkRank() runs one rank of a device benchmark, from the plan to the last event.
#pragma once

#include "executor/trial/device_benchmark.h"
#include "executor/worker/observe/event_writer.h"
#include "executor/worker/run/worker.h"

namespace meshwright::worker {

// Runs the plan's measurements together with the other ranks, and reports the results through
// `events`. Returns the process's exit code, which is 0 if everything that the time budget allows
// was measured. Catches all of Torch's exceptions.
int RunBenchmarkRank(const trial::BenchmarkPlan& plan, const WorkerEnvironment& environment,
                     const EventWriter& events);

}  // namespace meshwright::worker
