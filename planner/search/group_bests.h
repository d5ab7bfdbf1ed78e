// The best layout of every group that some axes divide the layouts of a search into.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/search/objective.h"
#include "planner/search/ranking.h"

namespace meshwright::planner {

// The most axes that groups have in common.
inline constexpr size_t kMostGroupFields = 4;

// Returns the keys of a list such as "tp,offload", by their places in planner/layout/keys.h: one to
// kMostGroupFields, none of them twice. InvalidArgument about `field` lists what would be accepted.
absl::StatusOr<std::vector<size_t>> ParseGroupFields(std::string_view field, std::string_view text);

struct GroupBest {
  std::string group;  // the condition that its layouts meet, as ParseLayoutCondition() reads it
  int64_t fit = 0;    // that fit
  RankedLayout best;

  friend bool operator==(const GroupBest&, const GroupBest&) = default;
};

class GroupBests {
 public:
  // Without fields it takes nothing.
  GroupBests(std::vector<size_t> keys, Merit merit) : keys_(std::move(keys)), merit_(merit) {}

  // Of every layout that fits.
  void Count(const Layout& layout);
  // Whether a layout that has at most these scores, and stands behind all that were offered, may be
  // the best of its group.
  bool Takes(const Layout& layout, const Scores& most) const;
  void Offer(const Layout& layout, const Estimate& estimate, PointOrder order);
  // Takes what another part of the same search found.
  void Merge(GroupBests&& other);

  // The group of the best layout first; at most `most`.
  std::vector<GroupBest> Take(size_t most);

 private:
  // The values that the layouts of a group have in common: numbers, and texts of keys that have no
  // number for each value. Texts are short enough to take no memory of their own.
  struct Key {
    std::array<int64_t, kMostGroupFields> numbers{};
    std::array<std::string, kMostGroupFields> texts{};

    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Entry {
    int64_t fit = 0;
    bool has_best = false;
    RankedLayout best;
    double score = 0.0;
    PointOrder order = 0;
  };

  bool wanted() const { return !keys_.empty(); }
  Key KeyOf(const Layout& layout) const;
  std::string ConditionOf(const Key& key) const;

  const std::vector<size_t> keys_;
  const Merit merit_;
  std::map<Key, Entry> groups_;
};

}  // namespace meshwright::planner
