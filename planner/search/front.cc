#include "planner/search/front.h"

#include <algorithm>

namespace meshwright::planner {

bool Front::Covers(const Scores& a, const Scores& b) const {
  return std::all_of(merits_.begin(), merits_.end(),
                     [&](Merit merit) { return a[merit] >= b[merit]; });
}

// Whatever beats a layout is at least as good in the first merit. With two merits, the last of
// those entries is the best in the second, so that the first comparison decides.
bool Front::IsBeaten(const Scores& scores) const {
  const Merit first = merits_.front();
  auto end = std::partition_point(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.scores[first] >= scores[first];
  });
  while (end != entries_.begin()) {
    --end;
    if (Covers(end->scores, scores)) return true;
    if (merits_.size() == 2) return false;
  }
  return false;
}

void Front::Offer(const RankedLayout& ranked, PointOrder order) {
  const Scores scores = ScoresOf(ranked.estimate);
  if (Takes(scores)) Insert({ranked, scores, order});
}

void Front::Insert(const Entry& entry) {
  const Merit first = merits_.front();
  std::erase_if(entries_, [&](const Entry& other) { return Covers(entry.scores, other.scores); });
  const auto place = std::partition_point(
      entries_.begin(), entries_.end(),
      [&](const Entry& other) { return other.scores[first] >= entry.scores[first]; });
  entries_.insert(place, entry);
}

void Front::Merge(const Front& other) {
  if (!wanted()) return;
  for (const Entry& entry : other.entries_) {
    const auto equal = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& own) {
      return Covers(own.scores, entry.scores) && Covers(entry.scores, own.scores);
    });
    const bool is_earlier = equal != entries_.end() && entry.order < equal->order;
    if (is_earlier || !IsBeaten(entry.scores)) Insert(entry);
  }
}

std::vector<RankedLayout> Front::Take() {
  std::vector<RankedLayout> layouts;
  layouts.reserve(entries_.size());
  for (const Entry& entry : entries_) layouts.push_back(entry.ranked);
  entries_.clear();
  return layouts;
}

std::vector<RankedLayout> EvenlySpread(std::vector<RankedLayout> front, size_t most) {
  if (front.size() <= most) return front;
  std::vector<RankedLayout> spread;
  spread.reserve(most);
  for (size_t i = 0; i < most; ++i) {
    spread.push_back(front[i * (front.size() - 1) / (most - 1)]);
  }
  return spread;
}

}  // namespace meshwright::planner
