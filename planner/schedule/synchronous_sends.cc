#include "planner/schedule/synchronous_sends.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "planner/schedule/placement.h"

namespace meshwright::planner {
namespace {

// One lane's messages, each side in its order.
struct LaneMessages {
  std::vector<double> sent_s;    // when the send was issued
  std::vector<double> posted_s;  // the receive
  std::vector<double> done_s;    // of messages that both sides have issued
  size_t received = 0;           // messages that the receiver waited for
  size_t released = 0;           // messages that the sender waited for
};

class Ranks {
 public:
  Ranks(const Layout& layout, const ScheduleLists& lists, const SynchronousTimes& times,
        int64_t open_sends)
      : layout_(layout),
        lists_(lists),
        times_(times),
        position_(lists.size(), 0),
        now_s_(lists.size(), 0.0) {
    for (int32_t rank = 0; rank < layout.pp; ++rank) {
      plans_.push_back(PlanMessages(layout, rank, lists[rank], open_sends));
    }
    for (auto& lanes : lanes_) lanes.resize(lists.size());
  }

  std::optional<double> RunToEnd() {
    // Ranks that may be able to go on.
    queue_.resize(lists_.size());
    std::iota(queue_.begin(), queue_.end(), 0);
    while (!queue_.empty()) {
      const int32_t rank = queue_.back();
      queue_.pop_back();
      size_t& next = position_[rank];
      while (next < plans_[rank].size() && Run(rank, plans_[rank][next])) ++next;
    }
    for (size_t rank = 0; rank < lists_.size(); ++rank) {
      if (position_[rank] < plans_[rank].size()) return std::nullopt;
    }
    return *std::max_element(now_s_.begin(), now_s_.end());
  }

 private:
  // Returns false if the rank has to wait for another one.
  bool Run(int32_t rank, const Instruction& instruction) {
    const Action& action = lists_[rank][static_cast<size_t>(instruction.action)];
    const bool activations = action.kind == ActionKind::kForward;
    switch (instruction.kind) {
      case InstructionKind::kPostReceive:
      case InstructionKind::kAwaitReceive: {
        const MessageEnd from = InputOf(layout_, rank, action);
        LaneMessages& lane = LaneFrom(from.rank, activations, from.way == Way::kDown);
        if (instruction.kind == InstructionKind::kAwaitReceive) {
          return Await(rank, lane, lane.received);
        }
        lane.posted_s.push_back(now_s_[rank]);
        return Meet(lane, from.rank);
      }
      case InstructionKind::kSend:
      case InstructionKind::kAwaitSend: {
        const MessageEnd to = OutputOf(layout_, rank, action);
        LaneMessages& lane = LaneFrom(rank, activations, to.way == Way::kUp);
        if (instruction.kind == InstructionKind::kAwaitSend) {
          return Await(rank, lane, lane.released);
        }
        lane.sent_s.push_back(now_s_[rank]);
        return Meet(lane, to.rank);
      }
      case InstructionKind::kCompute:
        now_s_[rank] += times_.stages[StageOfChunk(layout_, rank, action.chunk)].Of(action.kind);
        return true;
    }
    return false;
  }

  LaneMessages& LaneFrom(int32_t rank, bool activations, bool up) {
    return lanes_[(activations ? 2U : 0U) + (up ? 1U : 0U)][rank];
  }

  // Completes messages of which both sides were issued; `other` is the rank at the other end.
  bool Meet(LaneMessages& lane, int32_t other) {
    const size_t next = lane.done_s.size();
    if (next >= std::min(lane.sent_s.size(), lane.posted_s.size())) return true;
    const double before_s = next > 0 ? lane.done_s.back() : 0.0;
    const double both_s = std::max(lane.sent_s[next], lane.posted_s[next]);
    lane.done_s.push_back(std::max(before_s, both_s + times_.hop_s));
    queue_.push_back(other);
    return true;
  }

  bool Await(int32_t rank, const LaneMessages& lane, size_t& awaited) {
    if (awaited == lane.done_s.size()) return false;
    now_s_[rank] = std::max(now_s_[rank], lane.done_s[awaited++]);
    return true;
  }

  const Layout& layout_;
  const ScheduleLists& lists_;
  const SynchronousTimes& times_;
  std::vector<std::vector<Instruction>> plans_;
  std::vector<size_t> position_;  // in the plans
  std::vector<double> now_s_;
  std::vector<int32_t> queue_;
  // By kind and direction, then by the rank that sends.
  std::array<std::vector<LaneMessages>, 4> lanes_;
};

}  // namespace

std::optional<double> TimeWithSynchronousSends(const Layout& layout, const ScheduleLists& lists,
                                               const SynchronousTimes& times, int64_t open_sends) {
  return Ranks(layout, lists, times, open_sends).RunToEnd();
}

int32_t OpenSendsNeeded(const Layout& layout, int32_t micro_batches, const ScheduleLists& lists) {
  SynchronousTimes times;
  times.stages.assign(static_cast<size_t>(StageCount(layout)),
                      {.forward_s = 1.0, .input_gradient_s = 1.0, .weight_gradient_s = 1.0});
  const auto end_with = [&](int64_t most_open) {
    return TimeWithSynchronousSends(layout, lists, times, most_open);
  };
  // More open sends never hurt, and a rank never has more open than it sends.
  int32_t low = 1;
  int32_t high = layout.vpp * micro_batches + 1;
  const std::optional<double> best = end_with(high);
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

}  // namespace meshwright::planner
