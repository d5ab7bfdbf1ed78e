#include "tools/cli/sweep/sweep_comparison.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/json_text.h"
#include "planner/layout/layout.h"
#include "tools/cli/io/text.h"
#include "tools/cli/sweep/sweep_json.h"

namespace meshwright::cli {
namespace {

using nlohmann::ordered_json;

using ByLayout = std::map<std::string, ComparedTrial>;

// Compares field by field where both are objects, or lists of objects of one length.
void AddDifferences(const std::string& field, const ordered_json& a, const ordered_json& b,
                    std::vector<FieldDifference>& out) {
  if (a == b) return;
  if (a.is_object() && b.is_object()) {
    for (const auto& [key, value] : a.items()) {
      AddDifferences(absl::StrCat(field, ".", key), value,
                     b.contains(key) ? b[key] : ordered_json(nullptr), out);
    }
    for (const auto& [key, value] : b.items()) {
      if (!a.contains(key)) AddDifferences(absl::StrCat(field, ".", key), nullptr, value, out);
    }
    return;
  }
  if (a.is_array() && b.is_array() && a.size() == b.size() && !a.empty() && a[0].is_object()) {
    for (size_t i = 0; i < a.size(); ++i) {
      AddDifferences(absl::StrCat(field, "[", i, "]"), a[i], b[i], out);
    }
    return;
  }
  out.push_back({field, a, b});
}

ordered_json Parsed(const std::string& text) {
  absl::StatusOr<ordered_json> json = ParseOrderedJson("JSON", text);
  return json.ok() ? *std::move(json) : ordered_json(nullptr);
}

ordered_json PartOf(const ordered_json& json, const char* key) {
  return json.is_object() && json.contains(key) ? json[key] : ordered_json(nullptr);
}

// Returns what a sweep's request has besides model, cluster and training.
ordered_json RequestOf(const v1::Sweep& sweep) {
  const ordered_json all = SweepToJson(sweep);
  ordered_json request = ordered_json::object();
  for (const char* key : {"profile", "profile_hash", "gpus", "device_kind", "runner", "ask",
                          "steps", "seed", "memory_limit_bytes", "candidates", "max_trials",
                          "min_gain", "rerun_of", "planner_version"}) {
    request[key] = all[key];
  }
  const ordered_json asked = PartOf(Parsed(sweep.request_json()), "create_sweep");
  for (const char* key : {"layouts", "fresh"}) request[key] = PartOf(asked, key);
  return request;
}

// Returns the versions and hosts of the workers that measured the sweep.
ordered_json WorkersOf(const ShownSweep& shown) {
  std::set<std::string> versions;
  std::set<std::string> hosts;
  for (const TrialView& view : shown.trials) {
    if (!view.measured) continue;
    if (!view.measured->worker_version.empty()) versions.insert(view.measured->worker_version);
    if (!view.measured->host.empty()) hosts.insert(view.measured->host);
  }
  return {{"versions", versions}, {"hosts", hosts}};
}

std::vector<FieldDifference> DifferencesOf(const ReadSide& a, const ReadSide& b) {
  std::vector<FieldDifference> out;
  const v1::Sweep& of_a = a.shown.sweep;
  const v1::Sweep& of_b = b.shown.sweep;
  const ordered_json all_a = SweepToJson(of_a);
  const ordered_json all_b = SweepToJson(of_b);
  AddDifferences("model", of_a.model(), of_b.model(), out);
  AddDifferences("cluster", of_a.cluster(), of_b.cluster(), out);
  for (const char* key : {"seq_len", "global_batch", "dtype"}) {
    AddDifferences(absl::StrCat("training.", key), all_a[key], all_b[key], out);
  }
  AddDifferences("request", RequestOf(of_a), RequestOf(of_b), out);
  AddDifferences("worker", WorkersOf(a.shown), WorkersOf(b.shown), out);
  for (const char* part : {"model", "training"}) {
    const ordered_json in_a = PartOf(a.plan, part);
    const ordered_json in_b = PartOf(b.plan, part);
    if (!in_a.is_null() && !in_b.is_null()) AddDifferences(part, in_a, in_b, out);
  }
  AddDifferences("cluster", Parsed(of_a.cluster_json()), Parsed(of_b.cluster_json()), out);
  // Removes repetitions: the whole texts repeat some of the summary's fields.
  std::set<std::string> told;
  const auto again = [&told](const FieldDifference& one) { return !told.insert(one.field).second; };
  out.erase(std::remove_if(out.begin(), out.end(), again), out.end());
  std::erase_if(out, [](const FieldDifference& one) {
    return one.field == "model.name" || one.field == "cluster.name" ||
           one.field == "training.precision";
  });
  return out;
}

bool EndedByItself(const v1::Trial& trial) {
  return trial.state() >= v1::TRIAL_STATE_OK && trial.state() < v1::TRIAL_STATE_CANCELLED;
}

ComparedTrial ComparedOf(const TrialView& view) {
  const v1::Trial& trial = view.trial;
  ComparedTrial compared;
  compared.trial = ShortName(trial.name());
  compared.layout = trial.layout();
  compared.outcome = StateName(trial.state());
  const absl::StatusOr<planner::Layout> layout = planner::ParseLayout(trial.layout());
  if (layout.ok()) compared.layout = planner::FormatLayout(*layout);
  if (!trial.reused_from().empty()) compared.reused_from = ShortName(trial.reused_from());
  if (view.measured && view.measured->outcome == trial::TrialOutcome::kOk &&
      view.measured->step_s > 0.0) {
    compared.step_s = view.measured->step_s;
    if (view.measured->step_interval) {
      compared.step_low_s = view.measured->step_interval->low_s;
      compared.step_high_s = view.measured->step_interval->high_s;
    }
    if (view.compared) compared.mfu = view.compared->mfu;
  }
  return compared;
}

bool IsFaster(const ComparedTrial& a, const ComparedTrial& b) {
  return a.step_s && (!b.step_s || *a.step_s < *b.step_s);
}

// Returns the trials by the text of their layouts; the fastest where a sweep ran a layout twice.
ByLayout TrialsOf(const ShownSweep& shown) {
  ByLayout trials;
  for (const TrialView& view : shown.trials) {
    if (!EndedByItself(view.trial)) continue;
    ComparedTrial compared = ComparedOf(view);
    const auto [there, added] = trials.emplace(compared.layout, compared);
    if (!added && IsFaster(compared, there->second)) there->second = std::move(compared);
  }
  return trials;
}

void KeepFaster(const ComparedTrial& trial, std::optional<ComparedTrial>& best) {
  if (trial.step_s && (!best || IsFaster(trial, *best))) best = trial;
}

bool HaveOneRun(const ComparedTrial& a, const ComparedTrial& b) {
  const auto of = [](const ComparedTrial& trial) {
    return trial.reused_from.value_or(trial.trial);
  };
  return of(a) == of(b) || of(a) == b.trial || of(b) == a.trial;
}

// `work`: the ratio of the work in a step of B to that in a step of A.
std::optional<TimeChange> ChangeOf(const ComparedTrial& a, const ComparedTrial& b, double work) {
  if (!a.step_s || !b.step_s) return std::nullopt;
  TimeChange change;
  change.change = *b.step_s / *a.step_s / work - 1.0;
  if (a.step_low_s && b.step_low_s) {
    change.low = *b.step_low_s / *a.step_high_s / work - 1.0;
    change.high = *b.step_high_s / *a.step_low_s / work - 1.0;
    change.noise = *change.low <= 0.0 && *change.high >= 0.0 ? Noise::kWithin : Noise::kOutside;
  }
  if (HaveOneRun(a, b)) change.noise = Noise::kSameRun;
  return change;
}

void Count(const LayoutPair& pair, PairCounts& counts) {
  if (pair.a.outcome != pair.b.outcome) ++counts.outcome_changed;
  if (!pair.step) return;
  switch (pair.step->noise) {
    case Noise::kOutside:
      ++(pair.step->change < 0.0 ? counts.faster : counts.slower);
      break;
    case Noise::kWithin:
      ++counts.within_noise;
      break;
    case Noise::kUnknown:
      ++counts.unknown;
      break;
    case Noise::kSameRun:
      ++counts.same_run;
      break;
  }
}

PairCounts CountsOf(const std::vector<LayoutPair>& pairs) {
  PairCounts counts;
  double sum_of_logarithms = 0.0;
  int64_t measured = 0;
  for (const LayoutPair& pair : pairs) {
    Count(pair, counts);
    if (!pair.step || pair.step->noise == Noise::kSameRun) continue;
    sum_of_logarithms += std::log1p(pair.step->change);
    ++measured;
  }
  if (measured > 0) {
    counts.mean_change = std::expm1(sum_of_logarithms / static_cast<double>(measured));
  }
  return counts;
}

OnlyThere OnlyIn(const ByLayout& here, const ByLayout& there) {
  OnlyThere only;
  for (const auto& [layout, trial] : here) {
    if (there.contains(layout)) continue;
    ++only.layouts;
    ++only.by_outcome[trial.outcome];
    KeepFaster(trial, only.best);
  }
  return only;
}

double TokensOf(const v1::Sweep& sweep) {
  return static_cast<double>(sweep.seq_len()) * static_cast<double>(sweep.global_batch());
}

// Returns "100.0 ms per step, MFU 40.0 %".
std::string FiguresText(const ComparedTrial& trial) {
  return absl::StrCat(FormatSeconds(*trial.step_s), " per step",
                      trial.mfu ? absl::StrCat(", MFU ", FormatPercent(*trial.mfu)) : "");
}

std::string VerdictOf(const SweepComparison& found, const std::string& per) {
  if (!found.best) {
    const bool no_a = !found.best_a;
    const bool no_b = !found.best_b;
    if (no_a && no_b) return "no layout was measured in either sweep";
    return absl::StrCat("no layout was measured in ", no_a ? found.a : found.b,
                        ", so that the bests can't be compared");
  }
  const TimeChange& best = *found.best;
  const std::string figures =
      absl::StrCat(FiguresText(*found.best_b), ", against ", FiguresText(*found.best_a));
  const std::string by = absl::StrCat(FormatPercent(std::fabs(best.change)),
                                      best.change < 0.0 ? " faster" : " slower", per);
  const std::string of_a = absl::StrCat(found.a, "'s best");
  const std::string of_b = absl::StrCat(found.b, "'s best");
  switch (best.noise) {
    case Noise::kSameRun:
      return absl::StrCat("both bests are one and the same run, ", FiguresText(*found.best_a));
    case Noise::kUnknown:
      return absl::StrCat(of_b, " is ", by, " than ", of_a, " (", figures,
                          "), and too few steps were timed to say whether that is noise");
    case Noise::kWithin:
      return absl::StrCat(of_b, " is not told apart from ", of_a, ": ", by, " (", figures,
                          "), and the 95 % intervals of the medians overlap");
    case Noise::kOutside:
      break;
  }
  const auto [least, most] = std::minmax({std::fabs(*best.low), std::fabs(*best.high)});
  return absl::StrCat(of_b, " is ", by, " than ", of_a, " (", figures, "): by ",
                      FormatPercent(least), " to ", FormatPercent(most),
                      " where the medians lie anywhere in their 95 % intervals");
}

std::vector<std::string> NotesOn(const ReadSide& a, const ReadSide& b,
                                 const std::vector<FieldDifference>& differences) {
  std::vector<std::string> notes;
  for (const ReadSide* side : {&a, &b}) {
    const v1::Sweep& sweep = side->shown.sweep;
    if (sweep.state() == v1::SWEEP_STATE_FINISHED) continue;
    notes.push_back(absl::StrCat("sweep ", ShortName(sweep.name()), " is ",
                                 StateName(sweep.state()), ": its trials are not complete"));
  }
  // If the shapes are known, different names alone do not mean different models.
  const bool known = !a.plan.is_null() && !b.plan.is_null();
  if (std::any_of(differences.begin(), differences.end(), [known](const FieldDifference& one) {
        return one.field.starts_with("model.") || (!known && one.field == "model");
      })) {
    notes.push_back(
        "the models differ, and so does the work per token: compare MFUs, not step times");
  }
  const v1::Sweep& of_a = a.shown.sweep;
  const v1::Sweep& of_b = b.shown.sweep;
  if (TokensOf(of_a) != TokensOf(of_b)) {
    notes.push_back(absl::StrFormat(
        "a step has %s tokens in %s and %s in %s: changes compare the time per token",
        FormatCount(static_cast<int64_t>(TokensOf(of_a))), ShortName(of_a.name()),
        FormatCount(static_cast<int64_t>(TokensOf(of_b))), ShortName(of_b.name())));
  }
  if (a.shown.peak_flops != b.shown.peak_flops) {
    notes.push_back(
        absl::StrFormat("every MFU is relative to the peak of its own sweep: %s per rank in "
                        "%s, %s in %s",
                        FormatFlops(a.shown.peak_flops), ShortName(of_a.name()),
                        FormatFlops(b.shown.peak_flops), ShortName(of_b.name())));
  }
  return notes;
}

}  // namespace

SweepComparison CompareSweeps(const ReadSide& a, const ReadSide& b) {
  const v1::Sweep& of_a = a.shown.sweep;
  const v1::Sweep& of_b = b.shown.sweep;
  SweepComparison found;
  found.a = ShortName(of_a.name());
  found.b = ShortName(of_b.name());
  found.differences = DifferencesOf(a, b);
  const ByLayout in_a = TrialsOf(a.shown);
  const ByLayout in_b = TrialsOf(b.shown);
  const double tokens = TokensOf(of_b) / TokensOf(of_a);
  for (const auto& [layout, trial] : in_a) {
    KeepFaster(trial, found.best_a);
    const auto there = in_b.find(layout);
    if (there == in_b.end()) continue;
    // Layouts of one text have the same number of devices.
    found.both.push_back({layout, trial, there->second, ChangeOf(trial, there->second, tokens)});
  }
  for (const auto& [layout, trial] : in_b) KeepFaster(trial, found.best_b);
  std::stable_sort(found.both.begin(), found.both.end(),
                   [](const LayoutPair& x, const LayoutPair& y) {
                     return std::tuple(!x.step, x.step ? x.step->change : 0.0) <
                            std::tuple(!y.step, y.step ? y.step->change : 0.0);
                   });
  found.counts = CountsOf(found.both);
  found.only_a = OnlyIn(in_a, in_b);
  found.only_b = OnlyIn(in_b, in_a);
  if (found.best_a && found.best_b) {
    const double devices = static_cast<double>(of_a.gpus()) / static_cast<double>(of_b.gpus());
    found.best = ChangeOf(*found.best_a, *found.best_b, tokens * devices);
  }
  std::string per = tokens != 1.0 ? " per token" : "";
  if (of_a.gpus() != of_b.gpus()) per = " per token and device";
  found.verdict = VerdictOf(found, per);
  found.notes = NotesOn(a, b, found.differences);
  return found;
}

}  // namespace meshwright::cli
