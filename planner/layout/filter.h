// A condition on layouts, such as `tp <= 8 and sched in (1f1b, interleaved) and vpp <= 4`: the
// expression by itself. planner/layout/filter_parser.h reads it, planner/layout/filter_match.h asks
// it of a layout.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace meshwright::planner {

// What a condition may be about, by the names of a layout's text form.
enum class FilterField : uint8_t {
  kTp,
  kCp,
  kPp,
  kDp,
  kEp,
  kEtp,
  kMicroBatch,
  kVpp,
  kZero,
  kSequenceParallel,
  kShardRanks,
  kRecompute,
  kSchedule
};

inline constexpr std::array<std::string_view, 13> kFilterFieldNames = {
    "tp", "cp", "pp", "dp", "ep", "etp", "mb", "vpp", "zero", "sp", "hs", "rc", "sched"};

constexpr std::string_view FilterFieldName(FilterField field) {
  return kFilterFieldNames[static_cast<size_t>(field)];
}

enum class Comparison : uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kAtMost,
  kMore,
  kAtLeast,
  kIn  // any of several values
};

struct Filter {
  enum class Kind : uint8_t {
    kAll,  // of `parts`; without parts every layout
    kAny,  // of `parts`
    kNot,  // the one of `parts`
    kCompare
  };

  Kind kind = Kind::kAll;
  std::vector<Filter> parts = {};
  // Of kCompare: `values` are numbers, or a Recompute or a ScheduleKind. One, but for kIn.
  FilterField field = FilterField::kTp;
  Comparison comparison = Comparison::kEqual;
  std::vector<int64_t> values = {};

  bool takes_all() const { return kind == Kind::kAll && parts.empty(); }

  friend bool operator==(const Filter&, const Filter&) = default;
};

// Returns what ParseFilter() reads as the same filter, as long as it is short enough for it: spaces
// may make it longer than the text that was read. "" for a filter that takes every layout.
std::string FormatFilter(const Filter& filter);

// The words that stand for the field's values, in their order; empty where these are numbers.
std::vector<std::string_view> FilterWords(FilterField field);

}  // namespace meshwright::planner
