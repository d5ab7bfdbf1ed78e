#include "tools/cli/sweep/sweep_follow.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/text/status_macros.h"
#include "executor/wire/event_details.h"
#include "meshwright/v1/sweeps.grpc.pb.h"
#include "nlohmann/json.hpp"
#include "proto/meshwright/v1/resource_names.h"
#include "tools/cli/common/server_client.h"
#include "tools/cli/common/stop_request.h"
#include "tools/cli/io/interrupt_guard.h"
#include "tools/cli/io/json_output.h"
#include "tools/cli/io/progress.h"
#include "tools/cli/io/terminal.h"
#include "tools/cli/io/text.h"
#include "tools/cli/sweep/sweep_json.h"
#include "tools/cli/sweep/sweep_outlook.h"
#include "tools/cli/sweep/sweep_ranking.h"
#include "tools/cli/sweep/sweep_text.h"

namespace meshwright::cli {
namespace {

constexpr absl::Duration kReconnectEvery = absl::Seconds(1);
constexpr int32_t kFollowPageSize = 1000;

class Follower {
 public:
  // Events up to `after` are counted and not shown.
  Follower(int64_t after, OutputFormat format, CommandContext& context)
      : after_(after), format_(format), context_(context) {}

  int64_t last() const { return last_; }
  v1::SweepEventKind end_kind() const { return end_kind_; }
  void SetTotal(const v1::Sweep& sweep) {
    outlook_.SetMost(std::max(sweep.trials(), sweep.max_trials()));
  }
  // Returns whether the sweep has trials with reused results, for which there are no events.
  bool MissesReused(const v1::Sweep& sweep) const {
    return sweep.trials_reused() > 0 && !knows_reused_;
  }
  void TakeReused(const std::vector<v1::Trial>& trials) {
    knows_reused_ = true;
    for (const v1::Trial& trial : trials) {
      if (trial.reused_from().empty()) continue;
      std::optional<double> step_s;
      if (trial.figures().has_step_s()) step_s = trial.figures().step_s();
      outlook_.TakeReused(step_s);
      if (step_s) steps_.push_back({NumberOf(trial.name()), {*step_s, std::nullopt}});
    }
  }
  void CloseLine() { progress_.Finish(); }

  // Prints which step was the shortest, and which others may be as short.
  void SayFastest() const {
    if (format_ == OutputFormat::kJson || steps_.empty()) return;
    const auto best = std::min_element(
        steps_.begin(), steps_.end(),
        [](const auto& a, const auto& b) { return a.spread.step_s < b.spread.step_s; });
    std::vector<std::string> equals;
    for (const MeasuredStep& step : steps_) {
      if (&step != &*best && NotToldApart(step.spread, best->spread)) equals.push_back(step.trial);
    }
    context_.out << "fastest: trial " << best->trial << ", " << FormatSeconds(best->spread.step_s)
                 << " per step";
    if (!equals.empty()) {
      context_.out << ", not told apart from " << absl::StrJoin(equals, ", ")
                   << " (their 95 % intervals overlap)";
    }
    context_.out << std::endl;
    if (above_one_) context_.out << "MFU above 100 %: meshwright sweep show says why" << std::endl;
  }

  void Take(const v1::SweepEvent& event) {
    const bool is_stored = event.sequence() > 0;  // progress events are not stored
    if (is_stored) last_ = event.sequence();
    const nlohmann::json data = ToJson(wire::DetailsOf(event));
    std::string standing;
    outlook_.Take(event);
    if (event.kind() == v1::SWEEP_EVENT_KIND_TRIAL_ENDED) standing = Rank(event.trial(), data);
    if (event.kind() == v1::SWEEP_EVENT_KIND_SWEEP_FINISHED ||
        event.kind() == v1::SWEEP_EVENT_KIND_SWEEP_CANCELLED) {
      end_kind_ = event.kind();
    }
    if (!is_stored || last_ > after_) Show(event, data, standing);
  }

 private:
  struct MeasuredStep {
    std::string trial;  // its number
    StepSpread spread;
  };

  // Returns the rank of a measured step among those so far; empty for a trial without one.
  std::string Rank(const std::string& trial, const nlohmann::json& data) {
    const auto number = [&](const char* key) -> std::optional<double> {
      if (!data.is_object() || !data.contains(key) || !data[key].is_number()) return std::nullopt;
      return data[key].get<double>();
    };
    if (!number("step_s")) return "";
    above_one_ = above_one_ || number("mfu").value_or(0.0) > 1.0;
    StepSpread spread{.step_s = *number("step_s"), .interval = std::nullopt};
    if (number("step_low_s") && number("step_high_s")) {
      spread.interval = trial::MedianInterval{*number("step_low_s"), *number("step_high_s")};
    }
    steps_.push_back({NumberOf(trial), spread});
    std::vector<StepSpread> spreads;
    spreads.reserve(steps_.size());
    for (const MeasuredStep& step : steps_) spreads.push_back(step.spread);
    const StepRank rank = RankSteps(spreads).back();
    return absl::StrCat(", rank ", rank.rank, rank.shared ? "=" : "", " of ", steps_.size(),
                        " so far");
  }

  void Show(const v1::SweepEvent& event, const nlohmann::json& data, const std::string& standing) {
    if (format_ == OutputFormat::kJson) {
      PrintJsonLine(EventToJson(event), context_.out);
      return;
    }
    const std::string layout = data.is_object() ? data.value("layout", "") : "";
    const std::string trial =
        event.trial().empty() ? "" : absl::StrCat("trial ", NumberOf(event.trial()));
    // A narrow window cuts such an overwritten line at its end, so that what changes comes first.
    if (event.kind() == v1::SWEEP_EVENT_KIND_TRIAL_PROGRESS ||
        event.kind() == v1::SWEEP_EVENT_KIND_TRIAL_RUNNING) {
      std::vector<std::string> parts = {absl::StrCat(trial, ": ", event.message())};
      if (std::string outlook = outlook_.ToText(); !outlook.empty()) {
        parts.push_back(std::move(outlook));
      }
      parts.push_back(layout);
      progress_.Update(outlook_.ended(), outlook_.most(), absl::StrJoin(parts, ", "));
      return;
    }
    std::string text = absl::StrCat(event.message(), standing);
    if (event.kind() == v1::SWEEP_EVENT_KIND_TRIAL_ENDED)
      text = absl::StrCat(data.is_object() ? data.value("state", "") : "", ", ", text);
    if (!trial.empty()) text = absl::StrCat(trial, " ", layout, ": ", text);
    progress_.Keep(outlook_.ended(), outlook_.most(), text);
  }

  const int64_t after_;
  int64_t last_ = 0;  // sequence of the newest event that was taken
  const OutputFormat format_;
  CommandContext& context_;
  ProgressLine progress_{context_.out};
  SweepOutlook outlook_;
  bool knows_reused_ = false;
  std::vector<MeasuredStep> steps_;  // so far
  bool above_one_ = false;           // whether an MFU is above 1
  v1::SweepEventKind end_kind_ = v1::SWEEP_EVENT_KIND_UNSPECIFIED;
};

absl::Status ReadReused(v1::Sweeps::Stub& stub, const std::string& sweep, Follower& follower,
                        CommandContext& context) {
  v1::ListTrialsRequest request;
  request.set_parent(FormatSweepName(sweep));
  request.set_page_size(kFollowPageSize);
  request.set_view(v1::TRIAL_VIEW_BASIC);
  std::vector<v1::Trial> trials;
  do {
    grpc::ClientContext call;
    SetDeadline(call);
    const InterruptGuard guard(context.interrupted, call);
    v1::ListTrialsResponse page;
    RETURN_IF_ERROR(CallStatus(stub.ListTrials(&call, request, &page)));
    trials.insert(trials.end(), page.trials().begin(), page.trials().end());
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  follower.TakeReused(trials);
  return absl::OkStatus();
}

absl::Status Stream(const ServerFlags& server, const std::string& sweep, Follower& follower,
                    CommandContext& context) {
  ASSIGN_OR_RETURN(const std::shared_ptr<grpc::Channel> channel, ConnectTo(server));
  const std::unique_ptr<v1::Sweeps::Stub> stub = v1::Sweeps::NewStub(channel);
  if (follower.last() == 0 || follower.end_kind() == v1::SWEEP_EVENT_KIND_UNSPECIFIED) {
    grpc::ClientContext call;
    SetDeadline(call);
    const InterruptGuard guard(context.interrupted, call);
    v1::GetSweepRequest request;
    request.set_name(FormatSweepName(sweep));
    v1::Sweep found;
    RETURN_IF_ERROR(CallStatus(stub->GetSweep(&call, request, &found)));
    follower.SetTotal(found);
    if (follower.MissesReused(found)) RETURN_IF_ERROR(ReadReused(*stub, sweep, follower, context));
  }
  grpc::ClientContext call;
  const InterruptGuard guard(context.interrupted, call);
  v1::WatchSweepRequest request;
  request.set_name(FormatSweepName(sweep));
  request.set_after_sequence(follower.last());
  const std::unique_ptr<grpc::ClientReader<v1::SweepEvent>> events =
      stub->WatchSweep(&call, request);
  v1::SweepEvent event;
  // Once nobody reads the output there is no reason to follow.
  while (context.out.good() && events->Read(&event)) follower.Take(event);
  if (!context.out.good()) call.TryCancel();
  return CallStatus(events->Finish());
}

void SayDetached(const ServerFlags& server, const std::string& sweep, int64_t last,
                 std::ostream& err) {
  // Overwrites the ^C that the terminal showed.
  if (TerminalOf(err).is_terminal) err << "\r\x1b[K";
  err << "detached; the sweep goes on. Resume with: meshwright sweep watch " << sweep << ' '
      << server.ToText() << " --after " << last << std::endl;
}

}  // namespace

absl::Status FollowSweep(const ServerFlags& server, const std::string& sweep, int64_t after,
                         OutputFormat format, CommandContext& context) {
  const StopRequest stop(context);
  Follower follower(after, format, context);
  bool connected_before = false;
  while (true) {
    const int64_t before = follower.last();
    absl::Status status = Stream(server, sweep, follower, context);
    follower.CloseLine();
    if (!context.out.good()) return absl::OkStatus();
    if (stop.Requested()) {
      SayDetached(server, sweep, std::max(after, follower.last()), context.err);
      context.exit_code = stop.exit_code();
      return absl::OkStatus();
    }
    if (status.ok()) break;
    connected_before = connected_before || follower.last() != before;
    if (!absl::IsUnavailable(status) || !connected_before) return status;
    context.err << "lost the server (" << status.message() << "); trying again" << std::endl;
    absl::SleepFor(kReconnectEvery);
  }
  follower.SayFastest();
  context.exit_code =
      follower.end_kind() == v1::SWEEP_EVENT_KIND_SWEEP_CANCELLED ? kExitFailed : kExitOk;
  return absl::OkStatus();
}

}  // namespace meshwright::cli
