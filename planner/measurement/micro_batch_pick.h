// The micro-batch of a run whose source does not say it.
//
// It goes by the estimate alone, never by what the run measured: a row must not choose the
// prediction that it is compared with.
#pragma once

#include <cstdint>

#include "planner/layout/layout.h"
#include "planner/profile/context.h"

namespace meshwright::planner {

// Among the powers of two that a search tries and the rules accept: the fastest of those that are
// likelier to fit than not, else the one that is likeliest to fit. 1 where the rules accept none;
// they then say why.
int32_t PickMicroBatch(const EstimateContext& context, int64_t devices, Layout layout);

}  // namespace meshwright::planner
