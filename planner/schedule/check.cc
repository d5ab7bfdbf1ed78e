#include "planner/schedule/check.h"

#include <map>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"
#include "planner/schedule/dependency_order.h"
#include "planner/schedule/messages.h"
#include "planner/schedule/placement.h"

namespace meshwright::planner {
namespace {

constexpr size_t kMaxRanksNamed = 8;

absl::Status OnRank(int32_t rank, const std::string& problem) {
  return absl::InvalidArgumentError(absl::StrCat("pipeline rank ", rank, ": ", problem));
}

// The progress of a rank with one micro-batch in one chunk.
enum class Progress : uint8_t { kNothing, kForward, kInput, kAll };

// Returns the state after `action`; kNothing if the action can't follow `before`.
Progress After(Progress before, ActionKind kind) {
  switch (kind) {
    case ActionKind::kForward:
      return before == Progress::kNothing ? Progress::kForward : Progress::kNothing;
    case ActionKind::kBackward:
      return before == Progress::kForward ? Progress::kAll : Progress::kNothing;
    case ActionKind::kBackwardInput:
      return before == Progress::kForward ? Progress::kInput : Progress::kNothing;
    case ActionKind::kBackwardWeight:
      return before == Progress::kInput ? Progress::kAll : Progress::kNothing;
    case ActionKind::kVocabularyForward:
      return before == Progress::kNothing ? Progress::kForward : Progress::kNothing;
    case ActionKind::kVocabularyBackward:
      return before == Progress::kForward ? Progress::kAll : Progress::kNothing;
  }
  return Progress::kNothing;
}

const char* Missing(Progress progress) {
  switch (progress) {
    case Progress::kNothing:
      return "no forward";
    case Progress::kForward:
      return "no backward";
    default:
      return "no weight gradient";
  }
}

absl::Status CheckList(const Layout& layout, int32_t micro_batches, int32_t rank,
                       const std::vector<Action>& list) {
  const bool divides = DividesVocabulary(layout.schedule);
  const int32_t parts = layout.vpp + (divides ? 1 : 0);  // the chunks, and the part of the head
  std::vector<Progress> progress(static_cast<size_t>(parts) * static_cast<size_t>(micro_batches));
  const auto index = [&](int32_t chunk, int32_t micro_batch) {
    return static_cast<size_t>(chunk) * static_cast<size_t>(micro_batches) +
           static_cast<size_t>(micro_batch);
  };
  for (const Action& action : list) {
    if (action.chunk < 0 || action.chunk >= layout.vpp || action.micro_batch < 0 ||
        action.micro_batch >= micro_batches) {
      return OnRank(rank, absl::StrCat(FormatAction(action), " is not one of ", layout.vpp,
                                       " chunks and ", micro_batches, " micro-batches"));
    }
    const bool of_head = IsOfVocabulary(action.kind);
    if (of_head && (!divides || action.chunk != layout.vpp - 1)) {
      return OnRank(rank, FormatAction(action) +
                              " is a pass of the vocabulary, which only a schedule that divides it "
                              "has, in the last chunk");
    }
    Progress& state = progress[index(of_head ? layout.vpp : action.chunk, action.micro_batch)];
    const Progress next = After(state, action.kind);
    if (next == Progress::kNothing) {
      return OnRank(rank, FormatAction(action) +
                              " is there twice or out of order: forward, input "
                              "gradient, weight gradient");
    }
    state = next;
  }
  for (int32_t chunk = 0; chunk < parts; ++chunk) {
    for (int32_t i = 0; i < micro_batches; ++i) {
      const Progress state = progress[index(chunk, i)];
      if (state == Progress::kAll) continue;
      if (chunk == layout.vpp) {
        return OnRank(rank, absl::StrCat(Missing(state), " of micro-batch ", i, " in the head"));
      }
      return OnRank(rank, absl::StrCat(Missing(state), " of micro-batch ", i, " in chunk ", chunk));
    }
  }
  return absl::OkStatus();
}

absl::Status DescribeDeadlock(const Layout& layout, const ScheduleLists& lists,
                              const std::vector<size_t>& position) {
  std::string text = "deadlock:";
  size_t stuck = 0;
  for (int32_t rank = 0; rank < layout.pp; ++rank) {
    if (position[rank] == lists[rank].size() || ++stuck > kMaxRanksNamed) continue;
    const Action& action = lists[rank][position[rank]];
    absl::StrAppend(&text, stuck > 1 ? ";" : "", " pipeline rank ", rank, " at ",
                    FormatAction(action));
    const MessageEnd from = InputOf(layout, rank, action);
    const bool needs_all =
        IsOfVocabulary(action.kind) ||
        (DividesVocabulary(layout.schedule) && action.kind != ActionKind::kForward &&
         StageOfChunk(layout, rank, action.chunk) == StageCount(layout) - 1);
    if (needs_all) {
      absl::StrAppend(&text, " waits for the head's passes or for the last stage");
    } else if (from.on_lane()) {
      absl::StrAppend(&text, " waits for stage ", from.stage, " on rank ", from.rank);
    } else {
      absl::StrAppend(&text, " waits for another chunk of its own");
    }
  }
  if (stuck > kMaxRanksNamed) absl::StrAppend(&text, "; and ", stuck - kMaxRanksNamed, " more");
  return absl::InvalidArgumentError(text);
}

// (sender, receiver, whether activations) -> stage and micro-batch of each message in turn.
using Channels = std::map<std::tuple<int32_t, int32_t, bool>, std::vector<int64_t>>;

// Messages are named by the stage that sends them.
Channels MessagesOf(const Layout& layout, int32_t micro_batches, const ScheduleLists& lists,
                    bool receives) {
  Channels channels;
  for (int32_t rank = 0; rank < layout.pp; ++rank) {
    for (const Action& action : lists[rank]) {
      const MessageEnd other =
          receives ? InputOf(layout, rank, action) : OutputOf(layout, rank, action);
      if (!other.on_lane()) continue;
      const int64_t sender = receives ? other.stage : StageOfChunk(layout, rank, action.chunk);
      const bool activations = action.kind == ActionKind::kForward;
      const auto key = receives ? std::tuple(other.rank, rank, activations)
                                : std::tuple(rank, other.rank, activations);
      channels[key].push_back(sender * micro_batches + action.micro_batch);
    }
  }
  return channels;
}

absl::Status CheckMessageOrder(const Layout& layout, int32_t micro_batches,
                               const ScheduleLists& lists) {
  const Channels sent = MessagesOf(layout, micro_batches, lists, /*receives=*/false);
  const Channels received = MessagesOf(layout, micro_batches, lists, /*receives=*/true);
  for (const auto& [channel, messages] : sent) {
    const std::vector<int64_t>& expected = received.at(channel);
    for (size_t i = 0; i < messages.size(); ++i) {
      if (messages[i] == expected[i]) continue;
      const auto& [from, to, activations] = channel;
      const auto name = [&](int64_t message) {
        return absl::StrCat("micro-batch ", message % micro_batches, " of stage ",
                            message / micro_batches);
      };
      return absl::InvalidArgumentError(absl::StrCat(
          activations ? "activations" : "gradients", " from pipeline rank ", from, " to ", to,
          ": number ", i, " sent is ", name(messages[i]), ", received is ", name(expected[i])));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckSchedule(const Layout& layout, int32_t micro_batches,
                           const ScheduleLists& lists) {
  if (lists.size() != static_cast<size_t>(layout.pp)) {
    return absl::InvalidArgumentError(
        absl::StrCat(lists.size(), " lists for ", layout.pp, " pipeline ranks"));
  }
  for (int32_t rank = 0; rank < layout.pp; ++rank) {
    RETURN_IF_ERROR(CheckList(layout, micro_batches, rank, lists[rank]));
  }
  const std::vector<size_t> position =
      VisitInDependencyOrder(layout, micro_batches, lists, [](int32_t, int32_t, const Action&) {});
  for (size_t rank = 0; rank < lists.size(); ++rank) {
    if (position[rank] != lists[rank].size()) return DescribeDeadlock(layout, lists, position);
  }
  return CheckMessageOrder(layout, micro_batches, lists);
}

}  // namespace meshwright::planner
