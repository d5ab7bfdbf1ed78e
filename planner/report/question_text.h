// These functions write a question, that is what is trained, on what and how, as part of a
// sentence. The comments show examples.
#pragma once

#include <string>
#include <string_view>

#include "planner/catalog/plan_query.h"
#include "planner/report/fastest_report.h"
#include "planner/report/scale_report.h"
#include "planner/scaling/device_range.h"

namespace meshwright::planner {

// global batch 256
std::string BatchText(const PlanQuery& query);

// global batch 256 (a batch that grows with the devices)
std::string BatchText(const ScaleQuery& query);

// 8 to 1,024
std::string DevicesText(const DeviceRange& devices);

// ", sequence 8,192, global batch 256, bf16, loss chunked:8, framework megatron". `batch` describes
// the batch in words. Options that have their default are left out.
std::string TrainingText(const PlanQuery& query, std::string_view batch);

// "llama-3-8b on 64 x h100, sequence 8,192, global batch 256, bf16, framework megatron". `devices`
// and `batch` describe the number of devices and the batch in words.
std::string QuestionText(const PlanQuery& query, std::string_view devices, std::string_view batch);

// The same for a query's own numbers of devices and batches.
std::string QuestionText(const PlanQuery& query);
std::string QuestionText(const ScaleQuery& query);
std::string QuestionText(const FastestQuery& query);

}  // namespace meshwright::planner
