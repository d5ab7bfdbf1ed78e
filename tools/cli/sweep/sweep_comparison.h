// CompareSweeps() compares two sweeps: how their requests differ, what became faster, and whether
// that is more than noise. The comparison depends only on its arguments.
//
// Steps are compared by their time per token, so that a different batch or sequence length does not
// look like a different speed. If the steps of both sweeps have equally many tokens, this equals a
// comparison of step times.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/enum_names.h"
#include "nlohmann/json.hpp"
#include "planner/codec/fields.h"
#include "tools/cli/sweep/sweep_text.h"

namespace meshwright::cli {

struct ReadSide {
  ShownSweep shown;
  nlohmann::ordered_json plan = nullptr;  // plan of one of the trials; null if none has a plan
};

// A field in which the sweeps differ. `a` or `b` is null if that sweep lacks the field.
struct FieldDifference {
  std::string field;  // such as "cluster.hardware.memory_bytes"
  nlohmann::ordered_json a;
  nlohmann::ordered_json b;
};

// A trial that ended by itself and was not cancelled.
struct ComparedTrial {
  std::string trial;  // sweep and number
  std::string layout;
  std::string outcome;
  std::optional<double> step_s;
  // 95 % interval of the median; nullopt if too few steps were timed.
  std::optional<double> step_low_s;
  std::optional<double> step_high_s;
  std::optional<double> mfu;  // PaLM definition, a share of its own sweep's peak
  std::optional<std::string> reused_from;
};

// The states in which a trial can end by itself.
inline constexpr std::array<std::string_view, 4> kEndedByItself = {"ok", "oom", "failed",
                                                                   "timeout"};

// Says whether the confidence intervals of two medians show that a change is more than noise.
enum class Noise : uint8_t {
  kOutside,  // they do not overlap
  kWithin,   // they overlap
  kUnknown,  // a median has no interval
  kSameRun   // both results come from the same run
};

inline constexpr EnumNames<Noise, 4> kNoiseNames = {{
    {Noise::kOutside, "outside"},
    {Noise::kWithin, "within"},
    {Noise::kUnknown, "unknown"},
    {Noise::kSameRun, "same_run"},
}};

// Change from A to B, as a share of A's time. It is below 0 if B is faster.
struct TimeChange {
  double change = 0.0;
  // Bounds of the change, from the opposite ends of both intervals.
  std::optional<double> low;
  std::optional<double> high;
  Noise noise = Noise::kUnknown;
};

struct LayoutPair {
  std::string layout;
  ComparedTrial a;
  ComparedTrial b;
  std::optional<TimeChange> step;  // nullopt unless both were measured
};

// Layouts that only one of the sweeps ran.
struct OnlyThere {
  int64_t layouts = 0;
  std::map<std::string, int64_t> by_outcome;
  std::optional<ComparedTrial> best;
};

// Counts of the layouts that both sweeps measured.
struct PairCounts {
  int64_t faster = 0;  // faster in B, with Noise::kOutside
  int64_t slower = 0;
  int64_t within_noise = 0;
  int64_t unknown = 0;
  int64_t same_run = 0;
  int64_t outcome_changed = 0;        // of the layouts that both ran
  std::optional<double> mean_change;  // geometric mean, without results of the same run
};

struct SweepComparison {
  std::string a;  // names of the sweeps
  std::string b;
  std::vector<FieldDifference> differences;
  std::optional<ComparedTrial> best_a;
  std::optional<ComparedTrial> best_b;
  std::optional<TimeChange> best;  // from A's best to B's, per token and device
  std::string verdict;             // one sentence
  PairCounts counts;
  std::vector<LayoutPair> both;  // by gain, largest first; pairs without a change come last
  OnlyThere only_a;
  OnlyThere only_b;
  std::vector<std::string> notes;  // caveats about the numbers
};

SweepComparison CompareSweeps(const ReadSide& a, const ReadSide& b);

template <planner::ConstOr<FieldDifference> D, typename Visitor>
void VisitFields(D& difference, Visitor& visit) {
  visit({"field", "Path of the field: model, training, cluster, request or worker first"},
        difference.field);
  visit({"a", "Value in A's request; null where the request has none"}, difference.a);
  visit({"b", "Value in B's request; null where the request has none"}, difference.b);
}

template <planner::ConstOr<ComparedTrial> T, typename Visitor>
void VisitFields(T& trial, Visitor& visit) {
  visit({"trial", "Sweep and number"}, trial.trial);
  visit({"layout", "Text form of the layout"}, trial.layout);
  visit(planner::Among(kEndedByItself, {"outcome", "State that it ended in"}), trial.outcome);
  visit(planner::OrNull({"step_s", "Median of the measured steps, seconds"}), trial.step_s);
  visit(
      planner::OrNull({"step_low_s",
                       "Lower end of the 95 % interval of the median, seconds; null where too few "
                       "steps were timed"}),
      trial.step_low_s);
  visit(planner::OrNull({"step_high_s", "Upper end of that interval, seconds"}), trial.step_high_s);
  visit(planner::OrNull(
            {"mfu", "PaLM definition, a fraction of the peak of its own sweep's cluster"}),
        trial.mfu);
  visit(planner::OrNull(
            {"reused_from",
             "Sweep and number of the trial whose result it has; null for one that ran itself"}),
        trial.reused_from);
}

template <planner::ConstOr<TimeChange> C, typename Visitor>
void VisitFields(C& change, Visitor& visit) {
  visit({"change",
         "From A to B, a share of A's time per token (the step time where both have as many tokens "
         "a step); below 0 where B is faster"},
        change.change);
  visit(planner::OrNull({"change_low",
                         "Least change if both medians are inside their 95 % intervals; null where "
                         "one has no interval"}),
        change.low);
  visit(planner::OrNull({"change_high", "Largest such change"}), change.high);
  visit({"noise",
         "Whether the change is outside the noise: the intervals do not overlap, they do, one of "
         "them is not known, or both have the result of one run"},
        change.noise, kNoiseNames);
}

template <planner::ConstOr<LayoutPair> P, typename Visitor>
void VisitFields(P& pair, Visitor& visit) {
  visit({"layout", "Text form of the layout"}, pair.layout);
  visit({"a", "Its trial in A"}, pair.a);
  visit({"b", "Its trial in B"}, pair.b);
  visit(planner::OrNull({"step", "How its step changed; null where one of them was not measured"}),
        pair.step);
}

template <planner::ConstOr<OnlyThere> O, typename Visitor>
void VisitFields(O& only, Visitor& visit) {
  visit({"layouts", "Number of these layouts"}, only.layouts);
  visit({"by_outcome", "Counts by the state that they ended in"}, only.by_outcome);
  visit(planner::OrNull({"best", "The fastest of them; null where none was measured"}), only.best);
}

template <planner::ConstOr<PairCounts> C, typename Visitor>
void VisitFields(C& counts, Visitor& visit) {
  visit({"faster", "Layouts that are faster in B, outside the noise"}, counts.faster);
  visit({"slower", "Layouts that are slower in B, outside the noise"}, counts.slower);
  visit({"within_noise", "Layouts whose change is within the noise"}, counts.within_noise);
  visit({"unknown", "Layouts of which too few steps were timed to tell"}, counts.unknown);
  visit({"same_run", "Layouts for which both sweeps have the result of one run"}, counts.same_run);
  visit({"outcome_changed", "Layouts that ended in different states"}, counts.outcome_changed);
  visit(planner::OrNull(
            {"mean_change",
             "Geometric mean of the changes, without those of same_run; null where there is none"}),
        counts.mean_change);
}

template <planner::ConstOr<SweepComparison> C, typename Visitor>
void VisitFields(C& comparison, Visitor& visit) {
  visit({"a", "Name of the first sweep, with which B is compared"}, comparison.a);
  visit({"b", "Name of the second sweep"}, comparison.b);
  visit({"differences", "Fields in which the requests, or the workers that measured, differ"},
        comparison.differences);
  visit(planner::OrNull({"best_a", "The fastest trial of A; null where none was measured"}),
        comparison.best_a);
  visit(planner::OrNull({"best_b", "The fastest trial of B"}), comparison.best_b);
  visit(planner::OrNull(
            {"best", "From A's best to B's, per token and device; null where one has none"}),
        comparison.best);
  visit({"verdict", "Which best is faster, by how much, and whether that is noise: one sentence"},
        comparison.verdict);
  visit({"counts", "Of the layouts that ran in both"}, comparison.counts);
  visit({"both", "Layouts that ended by themselves in both, those that gained most first"},
        comparison.both);
  visit({"only_a", "Layouts that ended by themselves in A alone"}, comparison.only_a);
  visit({"only_b", "Layouts that ended by themselves in B alone"}, comparison.only_b);
  visit({"notes", "Caveats about the numbers, one sentence each"}, comparison.notes);
}

}  // namespace meshwright::cli
