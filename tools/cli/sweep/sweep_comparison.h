// Compares two sweeps: how their requests differ, what became faster, and whether that is more than
// noise. A pure function of what was read of both.
//
// Steps are compared by their time per token, so that another batch or sequence length does not
// look like another speed; where both sweeps' steps have equally many tokens that is the step time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/text/enum_names.h"
#include "nlohmann/json.hpp"
#include "planner/codec/fields.h"
#include "tools/cli/sweep/sweep_text.h"

namespace meshwright::cli {

struct ReadSide {
  ShownSweep shown;
  nlohmann::ordered_json plan = nullptr;  // of one of its trials; null where none has one
};

// A field in which the sweeps differ; null where one of them lacks it.
struct FieldDifference {
  std::string field;  // such as "cluster.hardware.memory_bytes"
  nlohmann::ordered_json a;
  nlohmann::ordered_json b;
};

// A trial that has ended by itself.
struct ComparedTrial {
  std::string trial;  // sweep and number
  std::string layout;
  std::string outcome;
  std::optional<double> step_s;
  // 95 % interval of the median; nullopt where too few steps were timed.
  std::optional<double> step_low_s;
  std::optional<double> step_high_s;
  std::optional<double> mfu;  // PaLM definition, against its own sweep's peak
  std::optional<std::string> reused_from;
};

// What the confidence intervals of two medians say about a change.
enum class Noise : uint8_t {
  kOutside,  // they do not overlap
  kWithin,   // they overlap
  kUnknown,  // one of them has none
  kSameRun   // both have the result of the same run
};

inline constexpr EnumNames<Noise, 4> kNoiseNames = {{
    {Noise::kOutside, "outside"},
    {Noise::kWithin, "within"},
    {Noise::kUnknown, "unknown"},
    {Noise::kSameRun, "same_run"},
}};

// Change from A to B, as a share of A's time; below 0 where B is faster.
struct TimeChange {
  double change = 0.0;
  std::optional<double> low;  // from the ends of both intervals
  std::optional<double> high;
  Noise noise = Noise::kUnknown;
};

struct LayoutPair {
  std::string layout;
  ComparedTrial a;
  ComparedTrial b;
  std::optional<TimeChange> step;  // where both were measured
};

// Layouts that only one of the sweeps ran.
struct OnlyThere {
  int64_t layouts = 0;
  std::map<std::string, int64_t> by_outcome;
  std::optional<ComparedTrial> best;
};

// Counts of the layouts that both measured.
struct PairCounts {
  int64_t faster = 0;  // in B, outside the noise
  int64_t slower = 0;
  int64_t within_noise = 0;
  int64_t unknown = 0;
  int64_t same_run = 0;
  int64_t outcome_changed = 0;        // of the layouts that both ran
  std::optional<double> mean_change;  // geometric, without results of the same run
};

struct SweepComparison {
  std::string a;  // names
  std::string b;
  std::vector<FieldDifference> differences;
  std::optional<ComparedTrial> best_a;
  std::optional<ComparedTrial> best_b;
  std::optional<TimeChange> best;  // per token and device
  std::string verdict;             // one sentence
  PairCounts counts;
  std::vector<LayoutPair> both;  // ordered by gain, largest first; then those without a change
  OnlyThere only_a;
  OnlyThere only_b;
  std::vector<std::string> notes;  // caveats about the numbers
};

SweepComparison CompareSweeps(const ReadSide& a, const ReadSide& b);

template <planner::ConstOr<FieldDifference> D, typename Visitor>
void VisitFields(D& difference, Visitor& visit) {
  visit("field", difference.field);
  visit("a", difference.a);
  visit("b", difference.b);
}

template <planner::ConstOr<ComparedTrial> T, typename Visitor>
void VisitFields(T& trial, Visitor& visit) {
  visit("trial", trial.trial);
  visit("layout", trial.layout);
  visit("outcome", trial.outcome);
  visit(planner::OrNull("step_s"), trial.step_s);
  visit(planner::OrNull("step_low_s"), trial.step_low_s);
  visit(planner::OrNull("step_high_s"), trial.step_high_s);
  visit(planner::OrNull("mfu"), trial.mfu);
  visit(planner::OrNull("reused_from"), trial.reused_from);
}

template <planner::ConstOr<TimeChange> C, typename Visitor>
void VisitFields(C& change, Visitor& visit) {
  visit("change", change.change);
  visit(planner::OrNull("change_low"), change.low);
  visit(planner::OrNull("change_high"), change.high);
  visit("noise", change.noise, kNoiseNames);
}

template <planner::ConstOr<LayoutPair> P, typename Visitor>
void VisitFields(P& pair, Visitor& visit) {
  visit("layout", pair.layout);
  visit("a", pair.a);
  visit("b", pair.b);
  visit(planner::OrNull("step"), pair.step);
}

template <planner::ConstOr<OnlyThere> O, typename Visitor>
void VisitFields(O& only, Visitor& visit) {
  visit("layouts", only.layouts);
  visit("by_outcome", only.by_outcome);
  visit(planner::OrNull("best"), only.best);
}

template <planner::ConstOr<PairCounts> C, typename Visitor>
void VisitFields(C& counts, Visitor& visit) {
  visit("faster", counts.faster);
  visit("slower", counts.slower);
  visit("within_noise", counts.within_noise);
  visit("unknown", counts.unknown);
  visit("same_run", counts.same_run);
  visit("outcome_changed", counts.outcome_changed);
  visit(planner::OrNull("mean_change"), counts.mean_change);
}

template <planner::ConstOr<SweepComparison> C, typename Visitor>
void VisitFields(C& comparison, Visitor& visit) {
  visit("a", comparison.a);
  visit("b", comparison.b);
  visit("differences", comparison.differences);
  visit(planner::OrNull("best_a"), comparison.best_a);
  visit(planner::OrNull("best_b"), comparison.best_b);
  visit(planner::OrNull("best"), comparison.best);
  visit("verdict", comparison.verdict);
  visit("counts", comparison.counts);
  visit("both", comparison.both);
  visit("only_a", comparison.only_a);
  visit("only_b", comparison.only_b);
  visit("notes", comparison.notes);
}

}  // namespace meshwright::cli
