#include "tools/cli/sweep_follow.h"

#include <atomic>
#include <memory>
#include <optional>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "meshwright/v1/sweeps.grpc.pb.h"
#include "nlohmann/json.hpp"
#include "planner/spec/status_macros.h"
#include "proto/meshwright/v1/resource_names.h"
#include "tools/cli/json_output.h"
#include "tools/cli/progress.h"
#include "tools/cli/server_client.h"
#include "tools/cli/sweep_text.h"

namespace meshwright {
namespace {

constexpr absl::Duration kPoll = absl::Milliseconds(50);
constexpr absl::Duration kReconnectEvery = absl::Seconds(1);

// Cancels a call once the user interrupts; a blocked read can't look for itself.
class InterruptGuard {
 public:
  InterruptGuard(const std::atomic<bool>& interrupted, grpc::ClientContext& call)
      : thread_([this, &interrupted, &call] {
          while (!done_.load()) {
            if (interrupted.load()) {
              call.TryCancel();
              return;
            }
            absl::SleepFor(kPoll);
          }
        }) {}
  ~InterruptGuard() {
    done_.store(true);
    thread_.join();
  }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  std::atomic<bool> done_{false};
  std::thread thread_;
};

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
    const nlohmann::json data = nlohmann::json::parse(event.data_json(), nullptr, false);
    const std::string layout = data.is_object() ? data.value("layout", "") : "";
    const bool trial_ended = event.kind() == "trial_ended";
    if (trial_ended) ended_ = std::min(ended_ + 1, total_);
    std::string text = event.message();
    if (trial_ended) text = absl::StrCat(data.value("state", ""), ", ", text);
    if (!event.trial().empty()) {
      text = absl::StrCat("trial ", event.trial().substr(event.trial().rfind('/') + 1), " ", layout,
                          ": ", text);
    }
    progress_.Update(ended_, total_, text);
    // What a reader wants to see later keeps its line.
    if (event.kind() != "trial_progress" && event.kind() != "trial_running") progress_.Finish();
  }

 private:
  int64_t last_;
  const OutputFormat format_;
  CommandContext& context_;
  ProgressLine progress_{context_.out, context_.out_is_terminal};
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
  while (events->Read(&event)) follower.Show(event);
  return CallStatus(events->Finish());
}

void SayDetached(const std::string& server, const std::string& sweep, int64_t last,
                 CommandContext& context) {
  context.err << "detached; the sweep goes on. Resume with: meshwright sweep watch " << sweep
              << " --server " << server << " --after " << last << std::endl;
  context.exit_code = kExitInterrupted;
}

}  // namespace

absl::Status FollowSweep(const std::string& server, const std::string& sweep, int64_t after,
                         OutputFormat format, CommandContext& context) {
  Follower follower(after, format, context);
  bool connected_before = false;
  while (true) {
    const int64_t before = follower.last();
    const absl::Status status = Stream(server, sweep, follower, context);
    follower.CloseLine();
    if (context.interrupted.load()) {
      SayDetached(server, sweep, follower.last(), context);
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
