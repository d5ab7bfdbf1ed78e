// Translates the words that sources of measurements use for schedules, kernels, recompute, options
// of the run and the rank of a memory peak.
//
// Names are compared after PlainWords(), so that spelling, case and remarks in parentheses make no
// difference.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/layout/layout.h"
#include "planner/profile/framework_profile.h"
#include "planner/spec/kernels.h"

namespace meshwright::planner {

// Returns the text in lower case and without parts in parentheses. Each run of blanks, '-', '_' and
// '/' becomes one blank: "1F1B (DeepSpeed)" becomes "1f1b".
std::string PlainWords(std::string_view text);

struct ScheduleMeaning {
  std::optional<ScheduleKind> kind;
  // A description of the schedule if it is known but not modelled; empty otherwise.
  std::string_view known_as = {};
  // Whether layers are distributed so that all stages take the same time ("1f1b+redis" of arXiv
  // 2411.05288).
  bool evens_stages = false;
};

// Returns the meaning of a schedule's name. If the name is unknown, the meaning has neither a kind
// nor a description.
ScheduleMeaning MeaningOfSchedule(std::string_view text);
// Returns whether the name stands for data parallelism that shards weights, without a pipeline.
bool NamesFsdp(std::string_view schedule);
// Returns whether the name stands for hybrid sharding (HSDP): weights are sharded within groups of
// ranks, and the groups are replicas of each other. NamesFsdp() is then true too.
bool NamesHsdp(std::string_view schedule);
// Returns whether the notes say that selective recompute recomputes every n-th block as a whole.
bool RecomputesEveryNthBlock(std::string_view notes);

// Return the kernel that a name means; nullopt if the name is unknown. kDefault means that the name
// stands for no particular kernel, such as "sdpa".
std::optional<AttentionKernel> MeaningOfAttention(std::string_view text);
std::optional<NormKernel> MeaningOfNorm(std::string_view text);

// Returns kNone, kSelective or kFull; nullopt if the text is unknown.
std::optional<Recompute> MeaningOfRecompute(std::string_view text);
// Returns whether the text means on; an empty one means off. Returns nullopt if the text is
// unknown.
std::optional<bool> MeaningOfSwitch(std::string_view text);

// Returns the value of an option (planner/spec/option_choice.h) that the notes state in a source's
// own words, such as "pure bf16 AdamW"; empty if the notes state none.
std::string_view NotedOption(std::string_view option, std::string_view notes);

// Returns the pipeline rank whose memory the source reports, or nullopt if the notes do not name
// it. Remarks in the notes are separated by ';'. A remark about memory may name the rank: "memory
// is of the last rank".
std::optional<PeakRank> MeaningOfPeakRank(std::string_view notes);

}  // namespace meshwright::planner
