#include "planner/schedule/open_sends.h"

#include <array>
#include <numeric>
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

class Ranks {
 public:
  Ranks(const Layout& layout, int32_t micro_batches, const ScheduleLists& lists)
      : layout_(layout),
        lists_(lists),
        done_(StageCount(layout), micro_batches),
        position_(lists.size(), 0),
        open_(lists.size()) {}

  // Whether all lists end with at most `most_open` open sends of a kind on each rank.
  bool RunToEnd(int32_t most_open) {
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
      if (position_[rank] < lists_[rank].size()) return false;
    }
    return true;
  }

 private:
  // Runs the action if it can start, and queues the ranks that this may set free.
  bool Start(int32_t rank, const Action& action, int32_t most_open, std::vector<int32_t>& queue) {
    const int32_t stage = StageOfChunk(layout_, rank, action.chunk);
    if (!done_.Ready(action.kind, stage, action.micro_batch)) return false;
    if (action.kind == ActionKind::kBackwardWeight) return true;
    const bool up = action.kind == ActionKind::kForward;
    if (open_[rank][up] >= most_open) return false;
    const int32_t from = OtherRank(layout_, rank, stage, !up);
    if (from >= 0) {
      --open_[from][up];
      queue.push_back(from);
    }
    const int32_t to = OtherRank(layout_, rank, stage, up);
    if (to >= 0) {
      ++open_[rank][up];
      queue.push_back(to);
    }
    done_.Finish(action.kind, stage, action.micro_batch);
    return true;
  }

  const Layout& layout_;
  const ScheduleLists& lists_;
  DoneActions done_;
  std::vector<size_t> position_;
  std::vector<std::array<int32_t, 2>> open_;  // gradients, activations
};

}  // namespace

int32_t OpenSendsNeeded(const Layout& layout, int32_t micro_batches, const ScheduleLists& lists) {
  const auto enough = [&](int32_t most_open) {
    return Ranks(layout, micro_batches, lists).RunToEnd(most_open);
  };
  // More never hurts, and a rank never has more open than it sends.
  int32_t low = 1;
  int32_t high = layout.vpp * micro_batches + 1;
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (enough(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace meshwright
