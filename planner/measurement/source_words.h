// What sources of measurements call schedules, attention kernels and recompute, and what they mean
// by it.
//
// Names are compared as PlainWords() leaves them, so that spelling, case and remarks in parentheses
// make no difference.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/layout/layout.h"
#include "planner/profile/framework_profile.h"
#include "planner/spec/kernels.h"

namespace meshwright::planner {

// In lower case, without what stands in parentheses, and with one blank for every run of blanks,
// '-', '_' and '/': "1F1B (DeepSpeed)" is "1f1b".
std::string PlainWords(std::string_view text);

// The lower-case runs of letters and of digits, points among digits belonging to them:
// "Llama3.1-8B" is llama, 3.1, 8, b.
std::vector<std::string> NameTokens(std::string_view name);

struct ScheduleMeaning {
  std::optional<ScheduleKind> kind;
  // Of a schedule that is known and not modelled, what it is; empty otherwise.
  std::string_view known_as = {};
};

// Neither a kind nor what it is where the name is not known.
ScheduleMeaning MeaningOfSchedule(std::string_view text);
// Whether the name is of data parallel that shards weights, with no pipeline.
bool NamesFsdp(std::string_view schedule);

// kDefault where the name says no more than that scores are not written out; nullopt where it is
// not known.
std::optional<AttentionKernel> MeaningOfAttention(std::string_view text);
std::optional<NormKernel> MeaningOfNorm(std::string_view text);

// kNone, kSelective or kFull.
std::optional<Recompute> MeaningOfRecompute(std::string_view text);
std::optional<bool> MeaningOfSwitch(std::string_view text);

// The pipeline rank whose memory was written down, where one of a row's remarks, divided by ';', is
// about memory and names it: "memory is of the last rank".
std::optional<PeakRank> MeaningOfPeakRank(std::string_view notes);

}  // namespace meshwright::planner
