#include "planner/schedule/open_sends.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <vector>

#include "planner/schedule/dependency_order.h"
#include "planner/schedule/placement.h"

namespace meshwright {
namespace {

// The rank on the other end of what `stage` sends (or receives), -1 where that is no other rank.
int32_t OtherRank(const Layout& layout, int32_t rank, int32_t stage, bool up) {
  const int32_t other = stage + (up ? 1 : -1);
  if (other < 0 || other >= StageCount(layout)) return -1;
  const int32_t holder = PlaceOfStage(layout, other).rank;
  return holder == rank ? -1 : holder;
}

int64_t DurationOf(ActionKind kind) { return kind == ActionKind::kBackward ? 2 : 1; }

class Ranks {
 public:
  Ranks(const Layout& layout, int32_t micro_batches, const ScheduleLists& lists)
      : layout_(layout),
        lists_(lists),
        micro_batches_(micro_batches),
        done_(StageCount(layout), micro_batches),
        position_(lists.size(), 0),
        free_(lists.size(), 0),
        sends_(lists.size()) {
    const auto passes =
        static_cast<size_t>(StageCount(layout)) * static_cast<size_t>(micro_batches);
    ended_.assign(passes, {0, 0});
    received_.assign(passes, {kNotYet, kNotYet});
  }

  // When all lists have ended, with at most `most_open` open sends of a kind on each rank; nothing
  // where they block each other.
  std::optional<int64_t> RunToEnd(int64_t most_open) {
    std::vector<int32_t> queue(lists_.size());
    std::iota(queue.begin(), queue.end(), 0);
    while (!queue.empty()) {
      const int32_t rank = queue.back();
      queue.pop_back();
      while (position_[rank] < lists_[rank].size()) {
        const Action& action = lists_[rank][position_[rank]];
        if (!Start(rank, action, most_open, queue)) break;
        ++position_[rank];
      }
    }
    for (size_t rank = 0; rank < lists_.size(); ++rank) {
      if (position_[rank] < lists_[rank].size()) return std::nullopt;
    }
    return *std::max_element(free_.begin(), free_.end());
  }

 private:
  static constexpr int64_t kNotYet = -1;
  using ByKind = std::array<int64_t, 2>;  // gradients, activations

  size_t Index(int32_t stage, int32_t micro_batch) const {
    return static_cast<size_t>(stage) * static_cast<size_t>(micro_batches_) +
           static_cast<size_t>(micro_batch);
  }

  // Runs the action if it can start, and queues the ranks that this may set free.
  bool Start(int32_t rank, const Action& action, int64_t most_open, std::vector<int32_t>& queue) {
    const int32_t stage = StageOfChunk(layout_, rank, action.chunk);
    if (!done_.Ready(action.kind, stage, action.micro_batch)) return false;
    int64_t start = free_[rank];
    if (action.kind == ActionKind::kBackwardWeight) {
      free_[rank] = start + DurationOf(action.kind);
      return true;
    }
    const bool up = action.kind == ActionKind::kForward;
    for (const std::vector<size_t>& sends : sends_[rank][up]) {
      const int64_t taken = static_cast<int64_t>(sends.size()) - (most_open - 1);
      if (taken <= 0) continue;
      const int64_t received = received_[sends[static_cast<size_t>(taken - 1)]][up];
      if (received == kNotYet) return false;
      start = std::max(start, received);
    }
    const int32_t feeding = stage + (up ? -1 : 1);
    if (feeding >= 0 && feeding < StageCount(layout_)) {
      start = std::max(start, ended_[Index(feeding, action.micro_batch)][up]);
    }
    const int32_t from = OtherRank(layout_, rank, stage, !up);
    if (from >= 0) {
      received_[Index(feeding, action.micro_batch)][up] = start;
      queue.push_back(from);
    }
    const int32_t to = OtherRank(layout_, rank, stage, up);
    if (to >= 0) {
      sends_[rank][up][to > rank].push_back(Index(stage, action.micro_batch));
      queue.push_back(to);
    }
    free_[rank] = start + DurationOf(action.kind);
    ended_[Index(stage, action.micro_batch)][up] = free_[rank];
    done_.Finish(action.kind, stage, action.micro_batch);
    return true;
  }

  const Layout& layout_;
  const ScheduleLists& lists_;
  const int32_t micro_batches_;
  DoneActions done_;
  std::vector<size_t> position_;
  std::vector<int64_t> free_;     // when each rank has done its last action
  std::vector<ByKind> ended_;     // when each pass was done, by stage and micro-batch
  std::vector<ByKind> received_;  // when what it sent was taken
  // Of each rank by kind and direction, in their order.
  std::vector<std::array<std::array<std::vector<size_t>, 2>, 2>> sends_;
};

}  // namespace

int32_t OpenSendsNeeded(const Layout& layout, int32_t micro_batches, const ScheduleLists& lists) {
  const auto end_with = [&](int64_t most_open) {
    return Ranks(layout, micro_batches, lists).RunToEnd(most_open);
  };
  // More never hurts, and a rank never has more open than it sends.
  int32_t low = 1;
  int32_t high = layout.vpp * micro_batches + 1;
  const std::optional<int64_t> best = end_with(high);
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (end_with(middle) == best) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace meshwright
