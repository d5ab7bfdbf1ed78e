// GroupBests finds the best layout of every group of a search's layouts. Layouts belong to one
// group if they agree in some chosen keys.
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
#include "planner/spec/option_choice.h"

namespace meshwright::planner {

// The most keys by which layouts can be grouped.
inline constexpr size_t kMostGroupFields = 4;

// Parses a list of one to kMostGroupFields different keys, such as "tp,offload". A key of
// kLayoutKeys (planner/layout/keys.h) is returned as its index there. Higher indices stand for the
// options of SearchableOptions(), of which only those that `choices` vary are accepted. Returns
// InvalidArgument naming `field`, with the accepted keys, if `text` is no such list.
absl::StatusOr<std::vector<size_t>> ParseGroupFields(std::string_view field, std::string_view text,
                                                     const std::vector<OptionChoice>& choices = {});

struct GroupBest {
  // The condition that the group's layouts meet. ParseLayoutCondition() accepts it, except for
  // comparisons of options.
  std::string group;
  int64_t fit = 0;  // layouts of the group that fit
  RankedLayout best;

  friend bool operator==(const GroupBest&, const GroupBest&) = default;
};

class GroupBests {
 public:
  // All offered layouts have these `options`. If `keys` is empty, no layout is taken.
  GroupBests(std::vector<size_t> keys, Merit merit, const OptionValues& options = {});

  // Counts `layout`, which fits, in its group.
  void Count(const Layout& layout);
  // Returns whether `layout` may be the best of its group. `most` holds upper bounds of its scores.
  // The layout must follow all offered layouts in the order of the search space.
  bool Takes(const Layout& layout, const Scores& most) const;
  void Offer(const RankedLayout& ranked, PointOrder order);
  // Adds the groups of other layouts of the same search.
  void Merge(GroupBests&& other);

  // Returns at most `most` groups. The group of the best layout comes first.
  std::vector<GroupBest> Take(size_t most);

 private:
  // The values that all layouts of a group share. Options, and keys whose values are texts, have a
  // text; every other key has a number. The texts are short enough to need no heap allocation.
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
  Key options_;  // the texts of the options, which all layouts share
  std::map<Key, Entry> groups_;
};

}  // namespace meshwright::planner
