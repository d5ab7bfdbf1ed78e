#include "tools/cli/sweep_text.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "db/records.h"
#include "executor/agent/wire.h"
#include "planner/catalog/json_text.h"
#include "planner/report/estimate_json.h"
#include "planner/spec/status_macros.h"
#include "tools/cli/table.h"
#include "tools/cli/text.h"

namespace meshwright {
namespace {

using nlohmann::ordered_json;

int64_t PeakBytes(const TrialResult& result) {
  int64_t peak = 0;
  for (const RankResult& rank : result.ranks) peak = std::max(peak, rank.peak_bytes);
  return peak;
}

// Against the peak that predictions are against, where the result tells it.
double MfuAsPredicted(const TrialResult& result) {
  return result.peak_flops.has_value() ? result.mfu_of_peak : result.mfu;
}

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

std::vector<std::string> TrialRow(const TrialView& view) {
  const Estimate predicted = view.predicted ? view.predicted->estimate : Estimate();
  const auto of_prediction = [&](std::string text) {
    return view.predicted ? std::move(text) : std::string("-");
  };
  const bool ok = view.measured && view.measured->outcome == Outcome::kOk;
  const bool has_peak = view.measured && PeakBytes(*view.measured) > 0;
  const std::string state = StateName(view.trial.state());
  return {view.trial.name().substr(view.trial.name().rfind('/') + 1),
          view.trial.layout(),
          state,
          of_prediction(FormatSeconds(predicted.time.step_s())),
          ok ? FormatSeconds(view.measured->step_s) : "-",
          of_prediction(FormatPercent(predicted.mfu)),
          ok ? FormatPercent(MfuAsPredicted(*view.measured)) : "-",
          of_prediction(FormatBytes(predicted.memory.allocator_bytes())),
          has_peak ? FormatBytes(PeakBytes(*view.measured)) : "-"};
}

}  // namespace

TrialView ViewOf(const v1::Trial& trial) {
  TrialView view{.trial = trial, .unreadable = trial.unreadable()};
  const auto note = [&view](const char* what, const absl::Status& status) {
    absl::StrAppend(&view.unreadable, view.unreadable.empty() ? "" : "; ", what, ": ",
                    status.message());
  };
  if (trial.has_predicted()) {
    absl::StatusOr<RankedLayout> predicted = FromWire(trial.predicted());
    if (predicted.ok()) {
      view.predicted = *std::move(predicted);
    } else {
      note("the prediction", predicted.status());
    }
  }
  if (trial.has_measured()) {
    absl::StatusOr<TrialResult> measured = FromWire(trial.measured());
    if (measured.ok()) {
      view.measured = *std::move(measured);
    } else {
      note("the result", measured.status());
    }
  }
  return view;
}

std::string TimeText(const google::protobuf::Timestamp& time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", FromWire(time), absl::UTCTimeZone());
}

std::string ShortName(const std::string& name) { return name.substr(name.find('/') + 1); }

// The wire's enumerations start with "unspecified" and then list the states of the store.
std::string StateName(v1::SweepState state) {
  if (state < v1::SWEEP_STATE_PENDING || state > v1::SWEEP_STATE_CANCELLED) return "unknown";
  return std::string(SweepStateName(static_cast<SweepState>(static_cast<int>(state) - 1)));
}

std::string StateName(v1::TrialState state) {
  if (state < v1::TRIAL_STATE_PENDING || state > v1::TRIAL_STATE_CANCELLED) return "unknown";
  return std::string(TrialStateName(static_cast<TrialState>(static_cast<int>(state) - 1)));
}

ordered_json SweepToJson(const v1::Sweep& sweep) {
  ordered_json json = {{"name", ShortName(sweep.name())},
                       {"state", StateName(sweep.state())},
                       {"reason", sweep.reason()},
                       {"model", sweep.model()},
                       {"cluster", sweep.cluster()},
                       {"cluster_hash", sweep.cluster_hash()},
                       {"profile", sweep.profile()},
                       {"profile_hash", sweep.profile_hash()},
                       {"gpus", sweep.gpus()},
                       {"device_kind", sweep.device_kind()},
                       {"seq_len", sweep.seq_len()},
                       {"global_batch", sweep.global_batch()},
                       {"dtype", sweep.dtype()},
                       {"steps", sweep.steps()},
                       {"seed", sweep.seed()},
                       {"memory_limit_bytes", nullptr},
                       {"trials", sweep.trials()},
                       {"trials_ended", sweep.trials_ended()},
                       {"planner_version", sweep.planner_version()},
                       {"create_time", TimeText(sweep.create_time())},
                       {"end_time", nullptr},
                       {"last_sequence", sweep.last_sequence()},
                       {"funnel", FunnelToJson(FromWire(sweep.funnel()))}};
  if (sweep.memory_limit_bytes() != 0) json["memory_limit_bytes"] = sweep.memory_limit_bytes();
  if (sweep.has_end_time()) json["end_time"] = TimeText(sweep.end_time());
  return json;
}

ordered_json TrialToJson(const TrialView& view) {
  const v1::Trial& trial = view.trial;
  ordered_json json = {{"trial", ShortName(trial.name())},
                       {"layout", trial.layout()},
                       {"state", StateName(trial.state())},
                       {"reason", trial.reason()},
                       {"attempt", trial.attempt()},
                       {"agent", trial.agent()},
                       {"host", trial.host()},
                       {"seed", trial.seed()},
                       {"predicted", nullptr},
                       {"measured", nullptr},
                       {"unreadable", nullptr}};
  if (view.predicted) {
    json["predicted"] = LayoutToJson(view.predicted->layout, view.predicted->estimate);
  }
  if (!view.unreadable.empty()) json["unreadable"] = view.unreadable;
  if (view.measured) json["measured"] = ordered_json(ToJson(*view.measured));
  return json;
}

ordered_json EventToJson(const v1::SweepEvent& event) {
  ordered_json json = {{"sequence", event.sequence()},
                       {"time", TimeText(event.time())},
                       {"sweep", ShortName(event.sweep())},
                       {"trial", nullptr},
                       {"attempt", event.attempt()},
                       {"kind", event.kind()},
                       {"message", event.message()},
                       {"data", ParseOrderedJson("data", event.data_json()).value_or(nullptr)}};
  if (!event.trial().empty()) json["trial"] = ShortName(event.trial());
  return json;
}

void PrintSweeps(const std::vector<v1::Sweep>& sweeps, std::ostream& out) {
  if (sweeps.empty()) {
    out << "no sweeps yet: meshwright sweep start makes one\n";
    return;
  }
  Table table({"sweep", "state", "trials", "model", "cluster", "devices", "created", "why"});
  for (const v1::Sweep& sweep : sweeps) {
    table.Add({ShortName(sweep.name()), StateName(sweep.state()),
               absl::StrFormat("%d/%d", sweep.trials_ended(), sweep.trials()), sweep.model(),
               sweep.cluster(), std::to_string(sweep.gpus()), TimeText(sweep.create_time()),
               sweep.reason()});
  }
  table.Print(out);
}

void PrintSweep(const v1::Sweep& sweep, const std::vector<TrialView>& trials, std::ostream& out) {
  out << absl::StrFormat("sweep %s: %s (%s)\n", ShortName(sweep.name()), StateName(sweep.state()),
                         sweep.reason());
  out << absl::StrFormat(
      "%s on %d x %s, sequence length %d, global batch %d, %s, up to %d steps, seed %d, profile "
      "%s\n",
      sweep.model(), sweep.gpus(), sweep.cluster(), sweep.seq_len(), sweep.global_batch(),
      sweep.dtype(), sweep.steps(), sweep.seed(), sweep.profile());
  const v1::Funnel& funnel = sweep.funnel();
  out << absl::StrFormat("%s layouts enumerated: %s invalid, %s over memory, %s evaluated\n\n",
                         FormatCount(funnel.enumerated()), FormatCount(funnel.invalid()),
                         FormatCount(funnel.memory()), FormatCount(funnel.evaluated()));
  Table table({"#", "layout", "state", "step predicted", "measured", "MFU predicted", "measured",
               "peak memory predicted", "measured"});
  for (const TrialView& view : trials) table.Add(TrialRow(view));
  table.Print(out);
  for (const TrialView& view : trials) {
    const std::string number = view.trial.name().substr(view.trial.name().rfind('/') + 1);
    if (view.trial.state() != v1::TRIAL_STATE_OK) {
      out << number << ": " << FirstLine(view.trial.reason()) << "\n";
    }
    if (!view.unreadable.empty()) {
      out << number << ": the server's records can't be read: " << FirstLine(view.unreadable)
          << "\n";
    }
  }
  out << "\nRanked by measured MFU; # is the rank by predicted MFU. Both are against the\n"
         "cluster's stated peak, or, of a trial that knows none, what its workers measured.\n";
}

}  // namespace meshwright
