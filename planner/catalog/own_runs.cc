#include "planner/catalog/own_runs.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/text/amounts.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/catalog/typed_layout.h"
#include "planner/estimate/peak_interval.h"
#include "planner/estimate/step_interval.h"
#include "planner/memory/rank_memory.h"
#include "planner/search/search.h"
#include "planner/spec/option_choice.h"
#include "planner/spec/run_option_table.h"

namespace meshwright::planner {
namespace {

constexpr std::string_view kMeasured = "measured";
constexpr std::string_view kForm =
    "must be a layout and what it measured, such as 'tp2.pp1.dp4.mb1 step=12.3s memory=61GiB' or "
    "'tp1.pp1.dp8 oom'";

struct Unit {
  const char* suffix;
  double factor;
};
// A suffix comes before those that it ends with.
constexpr Unit kStepUnits[] = {{"ms", 1e-3}, {"min", 60.0}, {"s", 1.0}};
constexpr Unit kPeakUnits[] = {{"GiB", kBytesPerGib}, {"MiB", kBytesPerGib / 1024.0}, {"GB", 1e9}};

absl::Status RunError(std::string_view text, std::string_view problem) {
  return FieldError(kMeasured, text, absl::StrCat(AbslView(problem), "; ", AbslView(kForm)));
}

template <size_t kCount>
std::optional<double> AmountOf(absl::string_view value, const Unit (&units)[kCount]) {
  for (const Unit& unit : units) {
    absl::string_view number_text = value;
    double number = 0.0;
    if (!absl::ConsumeSuffix(&number_text, unit.suffix)) continue;
    if (!absl::SimpleAtod(number_text, &number) || !(number > 0.0) || number > 1e9) break;
    return number * unit.factor;
  }
  return std::nullopt;
}

absl::Status ReadCount(std::string_view text, absl::string_view value, int64_t& count) {
  if (absl::SimpleAtoi(value, &count) && count >= 1) return absl::OkStatus();
  return RunError(text, absl::StrCat("has '", value, "' where a whole number above 0 must be"));
}

// All runs correct the estimates of one profile.
absl::Status CheckSameProfile(const RunOptions& asked, const RunOptions& of_run) {
  for (const RunOption& option : kRunOptions) {
    const std::string set = option.text(of_run);
    if (!option.chooses_profile || option.text(asked) == set) continue;
    return FieldError(kMeasured, absl::StrCat(AbslView(option.name), "=", set),
                      absl::StrCat("selects a framework profile other than the planned one; must "
                                   "be given for all layouts, by the plan's own option ",
                                   AbslView(option.name)));
  }
  return absl::OkStatus();
}

absl::Status ReadWord(std::string_view text, absl::string_view word, OwnRun& run) {
  if (word == "oom") {
    run.out_of_memory = true;
    return absl::OkStatus();
  }
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(word, absl::MaxSplits('=', 1));
  const auto& [key, value] = parts;
  if (key == "step") {
    run.step_s = AmountOf(value, kStepUnits);
    if (run.step_s) return absl::OkStatus();
    return RunError(text, absl::StrCat("has '", word, "', which must be a time in ms, s or min"));
  }
  if (key == "memory") {
    const std::optional<double> bytes = AmountOf(value, kPeakUnits);
    if (!bytes) {
      return RunError(text, absl::StrCat("has '", word, "', which must be a size in GiB or GB"));
    }
    run.peak_bytes = std::llround(*bytes);
    return absl::OkStatus();
  }
  if (key == "global_batch") return ReadCount(text, value, run.training.global_batch);
  if (key == "seq_len") return ReadCount(text, value, run.training.seq_len);
  const RunOptions asked = run.training.options;
  RETURN_IF_ERROR(SetOption(kMeasured, StdView(key), StdView(value), run.training));
  return CheckSameProfile(asked, run.training.options);
}

SearchRequest RequestOf(const OwnRun& run, const SearchRequest& request) {
  SearchRequest of = request;
  of.training = run.training;
  of.training.media_tokens = std::min(of.training.media_tokens, of.training.seq_len);
  of.devices = run.layout.devices();
  of.correction = nullptr;
  return of;
}

RunResidual ResidualOf(const OwnRun& run, const SearchRequest& request, double fraction_of_device) {
  RunResidual residual;
  residual.has_other_options = ChangedOptions(run.training) != ChangedOptions(request.training);
  residual.layout = run.layout;
  residual.out_of_memory = run.out_of_memory;
  residual.fraction_of_device = fraction_of_device;
  if (run.step_s) residual.step = std::log(*run.step_s / run.step_before_s);
  if (run.peak_bytes) {
    residual.peak =
        std::log(static_cast<double>(*run.peak_bytes) / static_cast<double>(run.peak_before_bytes));
  }
  return residual;
}

CorrectionPriors PriorsOf(const SearchRequest& request) {
  const EvidenceLevel level = LevelOf(request.cluster, request.profile);
  const EnumSet<Unfitted> unfitted =
      UnfittedOf(request.model, request.training, request.cluster.device_kind());
  return {.step = StepErrorAt(level, request.cluster, request.profile, unfitted),
          .peak = PeakErrorAt(level, request.profile),
          .oom = OomCurveOf(request.profile, 0.0)};
}

}  // namespace

absl::StatusOr<OwnRun> ParseOwnRun(std::string_view text, const SearchRequest& request) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(AbslView(text), absl::ByAnyChar(" \t"), absl::SkipEmpty());
  if (words.empty()) return RunError(text, "is empty");
  const absl::StatusOr<TypedLayout> layout =
      ReadTypedLayout(StdView(words.front()), request.model, request.profile, request.devices);
  if (!layout.ok()) return WithField(layout.status(), kMeasured);
  OwnRun run;
  run.layout = layout->layout;
  run.training = request.training;
  for (size_t i = 1; i < words.size(); ++i) RETURN_IF_ERROR(ReadWord(text, words[i], run));
  const bool measured = run.step_s || run.peak_bytes;
  if (run.out_of_memory && measured) {
    return RunError(
        text, "has oom beside a step or a memory peak, which a run out of memory does not have");
  }
  if (!run.out_of_memory && !measured) return RunError(text, "has none of step, memory and oom");
  RETURN_IF_ERROR(Validate(run.training));
  return run;
}

std::string OwnRunText(const OwnRun& run, const TrainingSpec& training) {
  std::string text = FormatLayout(run.layout);
  if (run.out_of_memory) absl::StrAppend(&text, " oom");
  if (run.step_s) absl::StrAppendFormat(&text, " step=%.9gs", *run.step_s);
  if (run.peak_bytes) {
    absl::StrAppendFormat(&text, " memory=%.9gGiB",
                          static_cast<double>(*run.peak_bytes) / kBytesPerGib);
  }
  if (run.training.global_batch != training.global_batch) {
    absl::StrAppend(&text, " global_batch=", run.training.global_batch);
  }
  if (run.training.seq_len != training.seq_len) {
    absl::StrAppend(&text, " seq_len=", run.training.seq_len);
  }
  for (const std::string_view name : OptionNames()) {
    const std::string value = OptionText(name, run.training);
    if (value != OptionText(name, training)) {
      absl::StrAppend(&text, " ", AbslView(name), "=", value);
    }
  }
  return text;
}

absl::Status AddOwnRuns(const std::vector<std::string>& texts, SearchRequest& request) {
  RETURN_IF_ERROR(CheckRange(kMeasured, static_cast<int64_t>(texts.size()), 0, kMostOwnRuns));
  std::vector<RunResidual> residuals;
  for (const std::string& text : texts) {
    ASSIGN_OR_RETURN(OwnRun run, ParseOwnRun(text, request));
    const SearchRequest of = RequestOf(run, request);
    const absl::StatusOr<Estimate> before = CheckAndEstimate(of, run.layout);
    if (!before.ok()) return WithField(before.status(), kMeasured);
    run.step_before_s = before->time.step_s();
    run.peak_before_bytes =
        EstimateMeasuredPeakBytes(ContextOf(of), run.layout, of.profile.kept.peak_rank);
    residuals.push_back(ResidualOf(run, request, before->fraction_of_device));
    request.own_runs.push_back(std::move(run));
  }
  if (residuals.empty()) return absl::OkStatus();
  request.correction = std::make_shared<const Correction>(residuals, PriorsOf(request));
  return absl::OkStatus();
}

}  // namespace meshwright::planner
