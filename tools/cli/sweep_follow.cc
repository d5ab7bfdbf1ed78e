#include "tools/cli/sweep_follow.h"

#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "meshwright/v1/sweeps.grpc.pb.h"
#include "nlohmann/json.hpp"
#include "planner/catalog/json_text.h"
#include "planner/spec/status_macros.h"
#include "proto/meshwright/v1/resource_names.h"
#include "tools/cli/interrupt_guard.h"
#include "tools/cli/json_output.h"
#include "tools/cli/progress.h"
#include "tools/cli/server_client.h"
#include "tools/cli/stop_request.h"
#include "tools/cli/sweep_text.h"
#include "tools/cli/terminal.h"

namespace meshwright {
namespace {

constexpr absl::Duration kReconnectEvery = absl::Seconds(1);

class Follower {
 public:
  Follower(int64_t after, OutputFormat format, CommandContext& context)
      : last_(after), format_(format), context_(context) {}

  int64_t last() const { return last_; }
  const std::string& end_kind() const { return end_kind_; }
  void SetCounts(const v1::Sweep& sweep, int64_t after) {
    total_ = sweep.trials();
    // Events that are not shown again still count.
    ended_ = after == 0 ? 0 : sweep.trials_ended();
  }
  void CloseLine() { progress_.Finish(); }

  void Show(const v1::SweepEvent& event) {
    last_ = event.sequence();
    if (event.kind() == "sweep_finished" || event.kind() == "sweep_cancelled") {
      end_kind_ = event.kind();
    }
    if (format_ == OutputFormat::kJson) {
      PrintJsonLine(EventToJson(event), context_.out);
      return;
    }
    const nlohmann::json data = ParseJson("data", event.data_json()).value_or(nullptr);
    const std::string layout = data.is_object() ? data.value("layout", "") : "";
    const bool trial_ended = event.kind() == "trial_ended";
    if (trial_ended) ended_ = std::min(ended_ + 1, total_);
    const std::string trial =
        event.trial().empty()
            ? ""
            : absl::StrCat("trial ", event.trial().substr(event.trial().rfind('/') + 1));
    // Of what the next line overwrites, a narrow window shows the beginning: what changes.
    if (event.kind() == "trial_progress" || event.kind() == "trial_running") {
      progress_.Update(ended_, total_, absl::StrCat(trial, ": ", event.message(), ", ", layout));
      return;
    }
    std::string text = event.message();
    if (trial_ended) text = absl::StrCat(data.value("state", ""), ", ", text);
    if (!trial.empty()) text = absl::StrCat(trial, " ", layout, ": ", text);
    progress_.Keep(ended_, total_, text);
  }

 private:
  int64_t last_;
  const OutputFormat format_;
  CommandContext& context_;
  ProgressLine progress_{context_.out};
  int64_t total_ = 0;
  int64_t ended_ = 0;
  std::string end_kind_;
};

absl::Status Stream(const std::string& server, const std::string& sweep, Follower& follower,
                    CommandContext& context) {
  ASSIGN_OR_RETURN(const std::shared_ptr<grpc::Channel> channel, ConnectTo(server));
  const std::unique_ptr<v1::Sweeps::Stub> stub = v1::Sweeps::NewStub(channel);
  if (follower.last() == 0 || follower.end_kind().empty()) {
    grpc::ClientContext call;
    SetDeadline(call);
    v1::GetSweepRequest request;
    request.set_name(FormatSweepName(sweep));
    v1::Sweep found;
    RETURN_IF_ERROR(CallStatus(stub->GetSweep(&call, request, &found)));
    follower.SetCounts(found, follower.last());
  }
  grpc::ClientContext call;
  const InterruptGuard guard(context.interrupted, call);
  v1::WatchSweepRequest request;
  request.set_name(FormatSweepName(sweep));
  request.set_after_sequence(follower.last());
  const std::unique_ptr<grpc::ClientReader<v1::SweepEvent>> events =
      stub->WatchSweep(&call, request);
  v1::SweepEvent event;
  // Once nobody reads what is printed there is nothing to follow for.
  while (context.out.good() && events->Read(&event)) follower.Show(event);
  if (!context.out.good()) call.TryCancel();
  return CallStatus(events->Finish());
}

void SayDetached(const std::string& server, const std::string& sweep, int64_t last,
                 std::ostream& err) {
  // Over the ^C that the terminal showed.
  if (TerminalOf(err).is_terminal) err << "\r\x1b[K";
  err << "detached; the sweep goes on. Resume with: meshwright sweep watch " << sweep
      << " --server " << server << " --after " << last << std::endl;
}

}  // namespace

absl::Status FollowSweep(const std::string& server, const std::string& sweep, int64_t after,
                         OutputFormat format, CommandContext& context) {
  const StopRequest stop(context);
  Follower follower(after, format, context);
  bool connected_before = false;
  while (true) {
    const int64_t before = follower.last();
    const absl::Status status = Stream(server, sweep, follower, context);
    follower.CloseLine();
    if (!context.out.good()) return absl::OkStatus();
    if (stop.Requested()) {
      SayDetached(server, sweep, follower.last(), context.err);
      context.exit_code = stop.exit_code();
      return absl::OkStatus();
    }
    if (status.ok()) break;
    connected_before = connected_before || follower.last() != before;
    if (!absl::IsUnavailable(status) || !connected_before) return status;
    context.err << "lost the server (" << status.message() << "); trying again" << std::endl;
    absl::SleepFor(kReconnectEvery);
  }
  context.exit_code = follower.end_kind() == "sweep_cancelled" ? kExitFailed : kExitOk;
  return absl::OkStatus();
}

}  // namespace meshwright
