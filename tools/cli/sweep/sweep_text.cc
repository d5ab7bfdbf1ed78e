#include "tools/cli/sweep/sweep_text.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "base/text/message_text.h"
#include "base/text/status_macros.h"
#include "db/records.h"
#include "executor/wire/message_codec.h"
#include "executor/wire/wire.h"
#include "planner/catalog/catalog.h"
#include "tools/cli/common/legend.h"
#include "tools/cli/common/utilisation_text.h"
#include "tools/cli/common/wire_text.h"
#include "tools/cli/io/folded_text.h"
#include "tools/cli/io/prose.h"
#include "tools/cli/io/table.h"
#include "tools/cli/io/text.h"

namespace meshwright::cli {
namespace {

// Returns the worker's last words, where a message ends with its standard error.
std::string LastLine(std::string text) {
  absl::StripTrailingAsciiWhitespace(&text);
  const size_t before = text.rfind('\n');
  return before == std::string::npos ? "" : text.substr(before + 1);
}

Style StateStyle(const std::string& state) {
  if (state == "ok" || state == "finished") return Style::kGood;
  if (state == "oom" || state == "timeout") return Style::kWarning;
  return state == "failed" ? Style::kBad : Style::kPlain;
}

std::string Capitalized(std::string text) {
  if (!text.empty()) text.front() = absl::ascii_toupper(static_cast<unsigned char>(text.front()));
  return text;
}

// Sources of clusters go on about fits and memory after the first semicolon.
std::string FirstClause(const std::string& text) { return text.substr(0, text.find(';')); }

// Returns the share of the peak at the step time `step_s`. It follows from the share at the
// predicted step time, because the work of a step is the same.
double ShareOf(double predicted, const planner::Estimate& estimate, double step_s) {
  return predicted * estimate.time.step_s() / step_s;
}

std::string NoteOn(const ComparedStep& compared, double peak_flops) {
  return WhyAboveOne(compared.mfu, compared.mfu_causal, peak_flops);
}

std::string IntervalText(const StepSpread& step) {
  if (!step.interval) return "-";
  return absl::StrCat(FormatSeconds(step.low_s()), " to ", FormatSeconds(step.high_s()));
}

std::vector<std::string> TrialRow(const TrialView& view, const TextStyle& style) {
  const planner::Estimate predicted =
      view.predicted ? view.predicted->estimate : planner::Estimate();
  const auto of_prediction = [&](std::string text) {
    return view.predicted ? std::move(text) : std::string("-");
  };
  const int64_t peak_bytes = view.measured ? PeakBytes(*view.measured) : 0;
  const auto compared = [&](const auto& text_of) {
    return view.compared ? text_of(*view.compared) : std::string("-");
  };
  std::vector<std::string> row = {
      compared([](const ComparedStep& c) {
        return absl::StrCat(c.rank.rank, c.rank.shared ? "=" : "");
      }),
      absl::StrCat(NumberOf(view.trial.name()), view.trial.requested() ? "*" : "",
                   view.trial.reused_from().empty() ? "" : "+"),
      LayoutText(view.trial.layout(), style),
      StateName(view.trial.state()),
      compared([](const ComparedStep& c) { return FormatSeconds(c.step.step_s); }),
      of_prediction(FormatSeconds(predicted.time.step_s()))};
  if (style.details) {
    row.insert(row.end(),
               {compared([](const ComparedStep& c) { return IntervalText(c.step); }),
                compared([](const ComparedStep& c) { return FormatPercent(c.mfu); }),
                compared([](const ComparedStep& c) { return FormatPercent(c.mfu_causal); }),
                of_prediction(FormatPercent(predicted.mfu))});
  }
  row.push_back(peak_bytes > 0 ? FormatBytes(peak_bytes) : "-");
  if (style.details) row.push_back(of_prediction(FormatBytes(predicted.memory.allocator_bytes())));
  return row;
}

// Explains the columns, the marks and the layouts of the table.
void PrintLegend(const ShownSweep& shown, const TextStyle& style, std::ostream& out) {
  Legend legend;
  legend.Add("rank", "by the median of the measured steps");
  legend.Add("trial", "its number, which is the layout's rank by estimate before any trial ran");
  const auto any = [&](const auto& has) {
    return std::any_of(shown.trials.begin(), shown.trials.end(), has);
  };
  if (any([](const TrialView& t) { return t.compared && t.compared->rank.shared; })) {
    legend.Add("=", "may be as fast as another: the 95 % intervals of the medians overlap");
  }
  if (style.details &&
      any([](const TrialView& t) { return t.compared && !t.compared->step.interval; })) {
    legend.Add("-", "no interval: too few steps were timed for one (6 are needed)");
  }
  if (any([](const TrialView& t) { return t.trial.requested(); })) {
    legend.Add("*", "asked for with --layout");
  }
  if (any([](const TrialView& t) { return !t.trial.reused_from().empty(); })) {
    legend.Add("+",
               "the result of an earlier sweep's trial, which sweep show --why NUMBER names; "
               "sweep start --fresh runs it again");
  }
  std::vector<planner::Layout> layouts;
  for (const TrialView& view : shown.trials) {
    if (view.predicted) layouts.push_back(view.predicted->layout);
  }
  legend.AddWordsOf(layouts);
  legend.Print(out);
}

// Says why some shares of the peak are above 100 %.
void PrintNotesOnShares(const ShownSweep& shown, std::ostream& out) {
  std::map<std::string, std::vector<std::string>> notes;
  for (const TrialView& view : shown.trials) {
    if (!view.compared) continue;
    const std::string note = NoteOn(*view.compared, shown.peak_flops);
    if (!note.empty()) notes[note].push_back(NumberOf(view.trial.name()));
  }
  for (const auto& [note, numbers] : notes) {
    PrintProse(absl::StrCat(numbers.size() == 1 ? "Trial " : "Trials ",
                            absl::StrJoin(numbers, ", "), ": ", note),
               out);
  }
}

}  // namespace

int64_t PeakBytes(const trial::TrialResult& result) {
  int64_t peak = 0;
  for (const trial::RankResult& rank : result.ranks) peak = std::max(peak, rank.peak_bytes);
  return peak;
}

TrialView ViewOf(const v1::Trial& trial) {
  TrialView view{.trial = trial, .unreadable = trial.unreadable()};
  const auto note = [&view](const char* what, const absl::Status& status) {
    absl::StrAppend(&view.unreadable, view.unreadable.empty() ? "" : "; ", what, ": ",
                    status.message());
  };
  if (trial.has_predicted()) {
    absl::StatusOr<planner::RankedLayout> predicted = wire::FromWire(trial.predicted());
    if (predicted.ok()) {
      view.predicted = *std::move(predicted);
    } else {
      note("the prediction", predicted.status());
    }
  }
  if (trial.has_measured()) {
    absl::StatusOr<trial::TrialResult> measured = wire::FromWire(trial.measured());
    if (measured.ok()) {
      view.measured = *std::move(measured);
    } else {
      note("the result", measured.status());
    }
  }
  return view;
}

absl::StatusOr<ShownSweep> ViewOf(const v1::Sweep& sweep, std::vector<TrialView> trials) {
  constexpr int32_t kAnyCores = 1;  // the server wrote the number of cores
  ShownSweep shown{sweep, {}, 0.0, std::move(trials)};
  ASSIGN_OR_RETURN(shown.cluster, planner::ClusterFromJson(sweep.cluster_json(), kAnyCores));
  ASSIGN_OR_RETURN(const planner::Precision precision,
                   planner::ParsePrecision(wire::TextOf(sweep.dtype())));
  shown.peak_flops = planner::RankPeakFlops(shown.cluster, precision, sweep.gpus());
  std::vector<StepSpread> steps;
  for (TrialView& view : shown.trials) {
    if (!view.measured || view.measured->outcome != trial::TrialOutcome::kOk || !view.predicted)
      continue;
    const double step_s = view.measured->step_s;
    const planner::Estimate& predicted = view.predicted->estimate;
    view.compared = ComparedStep{{step_s, view.measured->step_interval},
                                 {},
                                 ShareOf(predicted.mfu, predicted, step_s),
                                 ShareOf(predicted.mfu_causal, predicted, step_s)};
    steps.push_back(view.compared->step);
  }
  const std::vector<StepRank> ranks = RankSteps(steps);
  size_t next = 0;
  for (TrialView& view : shown.trials) {
    if (view.compared) view.compared->rank = ranks[next++];
  }
  return shown;
}

// The wire's enumerations start with "unspecified" and then list the states of the store.
std::string StateName(v1::SweepState state) {
  if (state < v1::SWEEP_STATE_PENDING || state > v1::SWEEP_STATE_CANCELLED) return "unknown";
  return std::string(db::SweepStateName(static_cast<db::SweepState>(static_cast<int>(state) - 1)));
}

std::string StateName(v1::TrialState state) {
  if (state < v1::TRIAL_STATE_PENDING || state > v1::TRIAL_STATE_CANCELLED) return "unknown";
  return std::string(db::TrialStateName(static_cast<db::TrialState>(static_cast<int>(state) - 1)));
}

std::string NumberOf(const std::string& trial) { return trial.substr(trial.rfind('/') + 1); }

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string TrialCountsText(const v1::Sweep& sweep) {
  db::TrialCounts counts;
  for (const auto& [name, count] : sweep.trials_by_state()) {
    const auto state = KindOf(db::kTrialStateNames, "state", name);
    if (state.ok()) counts[*state] = count;
  }
  return counts.ToText();
}

std::string CorrectedBy(const v1::SweepPlan& plan) {
  const int sweeps = plan.related_sweeps_size();
  return absl::StrCat("Estimates are corrected by ", plan.related_results(), " results of ", sweeps,
                      sweeps == 1 ? " related sweep, " : " related sweeps, such as ",
                      ShortName(plan.related_sweeps(0)));
}

void PrintSweeps(const std::vector<v1::Sweep>& sweeps, std::ostream& out) {
  if (sweeps.empty()) {
    out << "no sweeps yet: meshwright sweep start makes one\n";
    return;
  }
  Table table({"sweep", "state", "trials", "model", "cluster", "devices", "created", "why"});
  for (const v1::Sweep& sweep : sweeps) {
    table.Add({ShortName(sweep.name()), StateName(sweep.state()), TrialCountsText(sweep),
               sweep.model(), sweep.cluster(), std::to_string(sweep.gpus()),
               TimeText(sweep.create_time()), sweep.reason()});
  }
  table.StyleColumn(1, StateStyle);
  table.Print(out);
}

namespace {

// Prints what failed, and why.
void PrintProblems(const ShownSweep& shown, std::ostream& out) {
  for (const TrialView& view : shown.trials) {
    if (view.trial.state() != v1::TRIAL_STATE_OK) {
      out << NumberOf(view.trial.name()) << ": " << FirstLine(view.trial.reason()) << "\n";
      const std::string last = view.measured ? LastLine(view.measured->message) : "";
      if (!last.empty()) out << "   " << EscapeControls(last) << "\n";
    }
    if (!view.unreadable.empty()) {
      out << NumberOf(view.trial.name())
          << ": the server's records can't be read: " << FirstLine(view.unreadable) << "\n";
    }
  }
}

void PrintTable(const ShownSweep& shown, const TextStyle& style, std::ostream& out) {
  std::vector<std::string> header = {"rank", "trial", "layout", "state", "step", "est. step"};
  if (style.details) {
    header.insert(header.end(), {"95 % interval", "MFU", "causal MFU", "est. MFU"});
  }
  header.emplace_back("memory");
  if (style.details) header.emplace_back("est. memory");
  Table table(std::move(header));
  for (const TrialView& view : shown.trials) table.Add(TrialRow(view, style));
  table.StyleColumn(3, StateStyle);
  table.Print(out);
}

// Returns the fastest measured layout, or that there is none yet.
std::string BestSentence(const ShownSweep& shown, const TextStyle& style) {
  const auto best = std::find_if(
      shown.trials.begin(), shown.trials.end(),
      [](const TrialView& view) { return view.compared && view.compared->rank.rank == 1; });
  if (best == shown.trials.end()) return "No layout has been measured.";
  const ComparedStep& c = *best->compared;
  const auto shared =
      std::count_if(shown.trials.begin(), shown.trials.end(), [](const TrialView& view) {
        return view.compared && view.compared->rank.rank == 1 && view.compared->rank.shared;
      });
  std::string text =
      absl::StrCat(LayoutText(best->trial.layout(), style),
                   " is the fastest layout measured: ", FormatSeconds(c.step.step_s), " a step");
  if (c.step.interval) absl::StrAppend(&text, " (95 % interval: ", IntervalText(c.step), ")");
  absl::StrAppend(&text, ", ", FormatPercent(c.mfu), " MFU (of the peak stated for ",
                  shown.cluster.name, "). Its estimate was ",
                  FormatSeconds(best->predicted->estimate.time.step_s()), " a step.");
  if (shared > 1) {
    absl::StrAppend(&text, " ", shared - 1, shared == 2 ? " other layout" : " other layouts",
                    " may be as fast: the 95 % intervals overlap.");
  }
  return text;
}

void PrintOrigin(const ShownSweep& shown, std::ostream& out) {
  const v1::Sweep& sweep = shown.sweep;
  PrintProse(
      absl::StrFormat(
          "%s, up to %d steps a trial, seed %d, framework %s%s", SweepQuestion(sweep),
          sweep.steps(), sweep.seed(), sweep.profile(),
          sweep.runner().empty() && !sweep.ask() ? ", trials by Meshwright's own worker" : ""),
      out);
  if (!sweep.actor().empty()) PrintProse("created by " + sweep.actor(), out);
  if (!sweep.rerun_of().empty()) {
    out << "the trials of sweep " << ShortName(sweep.rerun_of()) << " again\n";
  }
  if (!sweep.runner().empty()) PrintProse("trials are commands of " + sweep.runner(), out);
  if (sweep.max_trials() != 0) {
    PrintProse(absl::StrFormat(
                   "%d of %d layouts were chosen for trials (the limit is %d); \"meshwright sweep "
                   "plan %s\" prints what is expected of the others",
                   sweep.trials(), sweep.candidates(), sweep.max_trials(), ShortName(sweep.name())),
               out);
  }
}

void PrintFunnel(const ShownSweep& shown, std::ostream& out) {
  const v1::Sweep& sweep = shown.sweep;
  const v1::Funnel& funnel = sweep.funnel();
  if (funnel.enumerated() > 0) {
    PrintProse(absl::StrFormat("%s layouts enumerated: %s invalid, %s over memory, %s evaluated",
                               FormatCount(funnel.enumerated()), FormatCount(funnel.invalid()),
                               FormatCount(funnel.memory()), FormatCount(funnel.evaluated())),
               out);
  }
  PrintProse(absl::StrCat("every MFU is a share of ", FormatFlops(shown.peak_flops),
                          " a rank, the stated ", wire::TextOf(sweep.dtype()), " peak of ",
                          FirstClause(PeakSource(shown.cluster))),
             out);
}

}  // namespace

std::string SweepQuestion(const v1::Sweep& sweep) {
  return absl::StrFormat("%s on %d x %s, sequence %s, global batch %s, %s", sweep.model(),
                         sweep.gpus(), sweep.cluster(), FormatCount(sweep.seq_len()),
                         FormatCount(sweep.global_batch()), wire::TextOf(sweep.dtype()));
}

void PrintSweep(const ShownSweep& shown, const TextStyle& style, std::ostream& to) {
  FoldedText text(to);
  std::ostream& out = text.stream();
  const v1::Sweep& sweep = shown.sweep;
  PrintProse(BestSentence(shown, style), out);
  PrintProse(absl::StrCat(
                 "Sweep \"", ShortName(sweep.name()), "\" is ", StateName(sweep.state()), ".",
                 sweep.reason().empty() ? "" : absl::StrCat(" ", Capitalized(sweep.reason()), ".")),
             out);
  out << "\n";
  PrintTable(shown, style, out);
  PrintProblems(shown, out);
  PrintLegend(shown, style, out);
  PrintNotesOnShares(shown, out);
  out << "\n";
  PrintOrigin(shown, out);
  if (style.details) {
    PrintFunnel(shown, out);
  } else {
    out << "--details: intervals, causal MFU, estimated memory, what was searched\n";
  }
}

}  // namespace meshwright::cli
