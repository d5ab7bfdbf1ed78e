#include "planner/schedule/schedule.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/schedule/generators.h"
#include "planner/schedule/schedule_needs.h"

namespace meshwright::planner {
namespace {

constexpr int64_t kMaxRanks = int64_t{1} << 20;
constexpr int64_t kMaxActions = int64_t{1} << 30;  // of one rank

std::vector<Action> Generate(const Layout& layout, int32_t rank, int32_t micro_batches) {
  switch (layout.schedule) {
    case ScheduleKind::kGpipe:
      return ScheduleGpipe(micro_batches);
    case ScheduleKind::k1f1b:
      return Schedule1f1b(layout.pp, rank, micro_batches);
    case ScheduleKind::kInterleaved:
      return ScheduleInterleaved(layout.pp, rank, layout.vpp, micro_batches);
    case ScheduleKind::kBreadthFirst:
      return ScheduleBreadthFirst(layout.vpp, micro_batches);
    case ScheduleKind::kZbH1:
      return ScheduleZbH1(layout.pp, rank, micro_batches);
    case ScheduleKind::kZbV:
      return ScheduleZbV(layout.pp, rank, micro_batches);
    case ScheduleKind::kZbH2:
      return ScheduleZbH2(layout.pp, rank, micro_batches);
    case ScheduleKind::kVHalf:
      return ScheduleVHalf(layout.pp, rank, micro_batches);
    case ScheduleKind::k1f1bVocab1:
      return ScheduleVocabulary1f1b(layout.pp, rank, micro_batches, /*rounds_of_loss=*/2);
    case ScheduleKind::k1f1bVocab2:
      return ScheduleVocabulary1f1b(layout.pp, rank, micro_batches, /*rounds_of_loss=*/1);
    case ScheduleKind::k1f1bInterlaced:
      return ScheduleInterlaced(layout.pp, rank, micro_batches);
    case ScheduleKind::kVHalfVocab1:
      return ScheduleVHalfVocabulary(layout.pp, rank, micro_batches);
  }
  return {};
}

std::string Named(const Layout& layout) {
  return absl::StrCat("sched=", std::string(ScheduleName(layout.schedule)));
}

absl::Status ChunksDoNotFit(const Layout& layout, const ScheduleNeeds& needs) {
  if (layout.pp < needs.least_ranks) {
    return FieldError("pp", layout.pp,
                      absl::StrCat(Named(layout), " needs at least ", needs.least_ranks));
  }
  return FieldError("vpp", layout.vpp,
                    needs.most_chunks == kAnyChunks
                        ? absl::StrCat(Named(layout), " needs at least ", needs.least_chunks)
                        : absl::StrCat(Named(layout), " takes vpp ", needs.most_chunks));
}

}  // namespace

absl::Status CheckScheduleExists(const Layout& layout, int32_t micro_batches) {
  RETURN_IF_ERROR(CheckRange("pp", layout.pp, 1, kMaxRanks));
  RETURN_IF_ERROR(CheckRange("vpp", layout.vpp, 1, kMaxRanks));
  const ScheduleNeeds needs = NeedsOf(layout.schedule);
  if (!ChunksFit(needs, layout)) return ChunksDoNotFit(layout, needs);
  RETURN_IF_ERROR(CheckRange("micro_batches", micro_batches, 1, kMaxActions / 3 / layout.vpp));
  if (needs.whole_rounds && micro_batches % layout.pp != 0) {
    return FieldError("micro_batches", micro_batches,
                      absl::StrCat(Named(layout), " needs a multiple of pp, which is ", layout.pp));
  }
  const int64_t least = LeastMicroBatches(needs, layout.pp);
  if (micro_batches < least) {
    return FieldError("micro_batches", micro_batches,
                      absl::StrCat(Named(layout), " needs at least ", least, " at pp ", layout.pp));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Action>> MakeSchedule(const Layout& layout, int32_t rank,
                                                 int32_t micro_batches) {
  RETURN_IF_ERROR(CheckScheduleExists(layout, micro_batches));
  RETURN_IF_ERROR(CheckRange("pipeline rank", rank, 0, layout.pp - 1));
  return Generate(layout, rank, micro_batches);
}

absl::StatusOr<ScheduleLists> MakeSchedules(const Layout& layout, int32_t micro_batches) {
  RETURN_IF_ERROR(CheckScheduleExists(layout, micro_batches));
  ScheduleLists lists;
  lists.reserve(static_cast<size_t>(layout.pp));
  for (int32_t rank = 0; rank < layout.pp; ++rank) {
    lists.push_back(Generate(layout, rank, micro_batches));
  }
  return lists;
}

int32_t PeakInFlight(const std::vector<Action>& actions) {
  int32_t in_flight = 0;
  int32_t peak = 0;
  for (const Action& action : actions) {
    if (action.kind == ActionKind::kForward) {
      peak = std::max(peak, ++in_flight);
    } else if (AddsWeightGradients(action.kind)) {
      --in_flight;  // the weight part ends a split backward
    }
  }
  return peak;
}

double PeakChunksHeld(const std::vector<Action>& actions, double kept_after_input) {
  int64_t whole = 0;   // between the forward and the input part
  int64_t shares = 0;  // between the input part and the weight part
  double peak = 0.0;
  for (const Action& action : actions) {
    switch (action.kind) {
      case ActionKind::kForward:
        ++whole;
        break;
      case ActionKind::kBackward:
        --whole;
        break;
      case ActionKind::kBackwardInput:
        --whole;
        ++shares;
        break;
      case ActionKind::kBackwardWeight:
        --shares;
        break;
      case ActionKind::kVocabularyForward:
      case ActionKind::kVocabularyBackward:
        break;
    }
    peak =
        std::max(peak, static_cast<double>(whole) + kept_after_input * static_cast<double>(shares));
  }
  return peak;
}

}  // namespace meshwright::planner
