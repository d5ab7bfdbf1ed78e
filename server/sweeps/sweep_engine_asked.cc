// SweepEngine's handling of trials that callers ask for and run.
#include <memory>
#include <utility>

#include "absl/synchronization/notification.h"
#include "base/text/status_macros.h"
#include "server/sweeps/sweep_engine.h"

namespace meshwright::server {
namespace {

// A choice is one answer, unless results that come meanwhile make it void.
constexpr int kMostChoices = 20;

}  // namespace

absl::StatusOr<AskedTrial> SweepEngine::AskTrial(const std::string& sweep, const std::string& actor,
                                                 absl::Duration lease) {
  for (int choices = 0; choices < kMostChoices; ++choices) {
    const EngineOutput output = Decide(TrialAsked{sweep, actor, lease});
    RETURN_IF_ERROR(output.status);
    if (output.handed_out) {
      RETURN_IF_ERROR(AwaitStored());
      const HandedOut& out = *output.handed_out;
      return AskedTrial{out.key, tokens_->TokenOf(out.sweep_id, out.key), out.lease_end};
    }
    policy_thread_.Flush();
  }
  return absl::UnavailableError("the next trial is still being chosen: try again");
}

absl::StatusOr<EngineOutput> SweepEngine::DecideOnHandedOut(const wire::AttemptKey& key,
                                                            const std::string& token,
                                                            EngineEvent event) {
  if (const std::optional<TrialPlace> place = PlaceOf(key)) {
    RETURN_IF_ERROR(tokens_->Check(place->sweep_id, key, token));
  }
  EngineOutput output = Decide(std::move(event));
  RETURN_IF_ERROR(output.status);
  RETURN_IF_ERROR(AwaitStored());
  return output;
}

absl::StatusOr<absl::Time> SweepEngine::RenewLease(const wire::AttemptKey& key,
                                                   const std::string& token, absl::Duration lease) {
  ASSIGN_OR_RETURN(const EngineOutput output,
                   DecideOnHandedOut(key, token, LeaseRenewed{key, lease}));
  return output.handed_out->lease_end;
}

absl::Status SweepEngine::GiveBack(const wire::AttemptKey& key, const std::string& token,
                                   const std::string& actor) {
  return DecideOnHandedOut(key, token, TrialGivenBack{key, actor}).status();
}

absl::Status SweepEngine::TellTrial(const wire::AttemptKey& key, const std::string& token,
                                    const std::string& actor, const trial::TrialResult& result) {
  struct Answer {
    FinishVerdict verdict;
    absl::Notification done;
  };
  // Outlives this call if the store can't be written for longer than callers wait.
  auto answer = std::make_shared<Answer>();
  Finish({.agent = "", .key = key, .token = token, .result = result, .told_by = actor},
         [answer](const FinishVerdict& verdict) {
           answer->verdict = verdict;
           answer->done.Notify();
         });
  RETURN_IF_ERROR(AwaitStored());
  answer->done.WaitForNotification();
  const FinishVerdict& verdict = answer->verdict;
  if (verdict.kind == FinishVerdict::Outcome::kStored) return absl::OkStatus();
  return {verdict.code, verdict.reason};
}

}  // namespace meshwright::server
