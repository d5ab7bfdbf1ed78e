// DumpGradients() writes one rank's gradients to disk, for tests that compare layouts.
//
// rank<N>.bin holds the local parts consecutively. rank<N>.json lists them in that order; each
// entry has name, dtype ("fp32" or "fp64"), global shape, first row and column, and local shape.
// Every rank writes whole gradients, even if ZeRO leaves it only a shard.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "executor/worker/model/stage.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

// Writes this rank's files to `directory`. All ranks of the run must call it. Throws
// std::runtime_error if the files can't be written.
void DumpGradients(const RankContext& context, const std::vector<std::unique_ptr<Stage>>& stages,
                   const std::string& directory);

}  // namespace meshwright::worker
