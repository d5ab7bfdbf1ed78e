// These functions print, or return, the lines that answers of the planner share.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "planner/report/answers.h"
#include "planner/scaling/device_range.h"
#include "tools/cli/common/text_style.h"

namespace meshwright::cli {

// Prints the first line of an answer: model, devices, training and framework of the query.
void PrintHeadline(const planner::PlanQuery& query, int64_t parameters, std::ostream& out);
void PrintHeadline(const planner::PlanQuery& query, const planner::ParameterCounts& parameters,
                   std::ostream& out);
// Prints what follows an answer: the query, the evidence for the answer, and the notes. If the
// style has no details, also prints `details`, which says what --details would add.
template <typename Answer>
void PrintQuestion(const planner::PlanQuery& query, const Answer& answer, const TextStyle& style,
                   std::string_view details, std::ostream& out) {
  out << "\n";
  PrintHeadline(query, answer.parameters, out);
  PrintNotes(answer.rests_on, answer.notes, style, out);
  if (!style.details) out << "--details: " << details << "\n";
}
// Prints the first line of an answer about several numbers of devices. `batch` describes their
// batches in words.
void PrintScaleHeadline(const planner::PlanQuery& query, const planner::DeviceRange& range,
                        int64_t parameters, const std::string& batch, std::ostream& out);
// Prints the evidence behind the answer's figures, in one line unless details are wanted; the
// user's runs beside their estimates; and the notes.
void PrintNotes(const planner::RestsOn& rests_on, const std::vector<std::string>& notes,
                const TextStyle& style, std::ostream& out);

// Returns the model with its parameters, the training and the framework of the query.
std::string SettingsText(const planner::PlanQuery& query,
                         const planner::ParameterCounts& parameters);
// The meaning of the mark P(OOM), for a legend.
inline constexpr std::string_view kOomMeaning =
    "how likely it runs out of memory; runs fail before a device is quite full";
// Returns the devices of the query, such as "64 devices (h100:8x8)".
std::string DevicesText(const planner::PlanQuery& query);
// Returns "With dp64.zero2, a step of llama-3-8b takes 3.47 s on 64 devices (h100:8x8): 4
// micro-batches, 58.3 % MFU, 9,440 tokens/s/GPU".
std::string StepSentence(const planner::PlanQuery& query, const std::string& layout,
                         const planner::Estimate& estimate, int64_t micro_batches);
// Returns "4 micro-batches, 58.3 % MFU, 9,440 tokens/s/GPU".
std::string SpeedText(const planner::Estimate& estimate, int64_t micro_batches);
// Returns the ranges of step times and memory peaks in which 80 % of runs like this one lie: "Runs
// likely take 3.06 s to 4.14 s a step and 53.63 to 72.31 GiB (80 % interval)."
std::string IntervalSentence(const planner::Estimate& estimate);

}  // namespace meshwright::cli
