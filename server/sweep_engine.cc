#include "server/sweep_engine.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "nlohmann/json.hpp"
#include "planner/base/status_macros.h"
#include "proto/meshwright/v1/resource_names.h"
#include "server/plan_to_beat.h"

namespace meshwright::server {
namespace {

// How long a caller waits for a store that can't be written.
constexpr absl::Duration kStorePatience = absl::Seconds(10);

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

absl::Status CantBeWritten() {
  return absl::UnavailableError("the store can't be written now: try again");
}

absl::StatusOr<SweepStored> ReadActive(const db::SweepRecord& sweep, db::SweepReader& store) {
  ASSIGN_OR_RETURN(std::vector<db::TrialHead> trials, store.ListTrialHeads(sweep.id));
  ASSIGN_OR_RETURN(std::vector<db::AttemptHead> attempts, store.ListAttemptHeads(sweep.id));
  return SweepStored{sweep, std::move(trials), std::move(attempts)};
}

FinishVerdict Retry(const absl::Status& status) {
  return {FinishVerdict::Kind::kRetry, std::string(status.message())};
}

absl::Status HasEndedAlready(const db::SweepRecord& sweep, absl::string_view verb) {
  return absl::FailedPreconditionError(absl::StrCat(
      "sweep ", sweep.name, " can't be ", verb, ": it is ", View(db::SweepStateName(sweep.state))));
}

}  // namespace

SweepEngine::SweepEngine(db::SweepStore* store, EventHub* hub, Clock clock,
                         host::MonotonicClock monotonic_clock, EngineOptions options,
                         host::LogFunction log)
    : store_(store),
      hub_(hub),
      clock_(std::move(clock)),
      monotonic_clock_(std::move(monotonic_clock)),
      options_(options),
      log_(std::move(log)),
      core_(options),
      writer_(store,
              {.events =
                   [hub](std::vector<db::EventRecord> events) { hub->Publish(std::move(events)); },
               .failed =
                   [this](const absl::Status& status) {
                     Log(absl::StrCat("the store can't be written, what is decided waits: ",
                                      status.message()),
                         host::LogLevel::kError);
                     Decide(StoreFailed());
                   },
               .back =
                   [this] {
                     Log("the store can be written again");
                     Decide(StoreBack());
                   }}) {}

SweepEngine::~SweepEngine() { writer_.Stop(); }

absl::StatusOr<std::unique_ptr<SweepEngine>> SweepEngine::Start(
    db::SweepStore* store, EventHub* hub, Clock clock, host::MonotonicClock monotonic_clock,
    EngineOptions options, host::LogFunction log) {
  auto engine = absl::WrapUnique(new SweepEngine(
      store, hub, std::move(clock), std::move(monotonic_clock), options, std::move(log)));
  ASSIGN_OR_RETURN(EngineCore core, engine->LoadCore());
  {
    absl::MutexLock lock(&engine->mutex_);
    engine->core_ = std::move(core);
  }
  engine->Tick();
  return engine;
}

void SweepEngine::Log(const std::string& line, host::LogLevel level) const {
  if (log_) log_(level, line);
}

EngineOutput SweepEngine::Decide(EngineEvent event) {
  absl::MutexLock lock(&mutex_);
  return DecideLocked(std::move(event));
}

EngineOutput SweepEngine::DecideLocked(EngineEvent event) {
  EngineOutput output = Handle(std::move(event));
  Submit(output, {});
  return output;
}

EngineOutput SweepEngine::Handle(EngineEvent event) {
  EngineOutput output = core_.Handle({clock_(), monotonic_clock_(), std::move(event)});
  for (const LogLine& line : output.log) Log(line.text, line.level);
  for (const Message& message : MessagesOf(output.sends_at_once)) Deliver(message);
  return output;
}

void SweepEngine::Submit(const EngineOutput& output,
                         std::function<void(const absl::Status&)> stored) {
  if (output.ops.empty() && output.sends.empty() && !stored) return;
  auto messages = std::make_shared<std::vector<Message>>(MessagesOf(output.sends));
  GroupWriter::Job job;
  const int64_t number = core_number_.load();
  if (!output.ops.empty()) {
    job.store = [this, number, ops = output.ops, messages](db::SweepAccess& access) {
      if (core_number_.load() != number) return absl::AbortedError("the engine began again");
      for (const StoreOp& op : ops) RETURN_IF_ERROR(Apply(op, access));
      return ReadPlans(*messages, access);
    };
  }
  job.stored = [this, number, messages, stored = std::move(stored)](const absl::Status& status) {
    if (status.ok()) {
      for (const Message& message : *messages) Deliver(message);
    } else if (!absl::IsCancelled(status) && core_number_.load() == number) {
      Reload(status);
    }
    if (stored) stored(status);
  };
  writer_.Submit(std::move(job));
}

std::vector<SweepEngine::Message> SweepEngine::MessagesOf(const std::vector<Send>& sends) {
  std::vector<Message> messages;
  for (const Send& send : sends) {
    if (const auto link = links_.find(send.connection); link != links_.end()) {
      messages.push_back({link->second, send, ""});
    }
  }
  return messages;
}

absl::Status SweepEngine::ReadPlans(std::vector<Message>& messages, db::SweepAccess& access) {
  for (Message& message : messages) {
    const auto* assign = std::get_if<AssignOrder>(&message.send.order);
    if (assign == nullptr) continue;
    ASSIGN_OR_RETURN(const std::string plan_json,
                     access.GetPlan(assign->sweep_id, assign->key.trial));
    message.plan_json = PlanToBeat(plan_json, assign->beat_step_s);
  }
  return absl::OkStatus();
}

void SweepEngine::Deliver(const Message& message) {
  struct Deliverer {
    const Message& message;

    void operator()(const WelcomeOrder&) const { message.link->Welcome(); }
    void operator()(const AssignOrder& order) const {
      message.link->Assign(order.key, message.plan_json, order.reason);
    }
    void operator()(const CancelOrder& order) const {
      message.link->Cancel(order.key, order.reason);
    }
    void operator()(const CloseOrder& order) const { message.link->Close(order.status); }
  };
  std::visit(Deliverer{message}, message.send.order);
}

absl::StatusOr<EngineCore> SweepEngine::LoadCore() const {
  EngineCore core(options_);
  ASSIGN_OR_RETURN(const std::vector<db::SweepRecord> sweeps, store_->ListActiveSweeps());
  for (const db::SweepRecord& sweep : sweeps) {
    ASSIGN_OR_RETURN(const SweepStored stored, ReadActive(sweep, *store_));
    core.Load(stored, monotonic_clock_());
  }
  return core;
}

void SweepEngine::Reload(const absl::Status& why) {
  Log(absl::StrCat("the store holds something else than the engine: it begins again from the "
                   "store: ",
                   why.message()),
      host::LogLevel::kError);
  absl::StatusOr<EngineCore> core = LoadCore();
  absl::MutexLock lock(&mutex_);
  ++core_number_;
  for (const auto& [connection, link] : links_) {
    link->Close(absl::UnavailableError("the server begins again from its store"));
  }
  links_.clear();
  if (core.ok()) {
    core_ = *std::move(core);
  } else {
    Log(std::string(core.status().message()), host::LogLevel::kError);
  }
}

absl::Status SweepEngine::StoreNow(std::function<absl::Status(db::SweepAccess&)> store,
                                   std::function<void()> stored) {
  struct Call {
    absl::Mutex mutex;
    bool abandoned ABSL_GUARDED_BY(mutex) = false;
    absl::Status status = absl::OkStatus();
    absl::Notification done;
  };
  auto call = std::make_shared<Call>();
  writer_.Submit({.store =
                      [call, store = std::move(store)](db::SweepAccess& access) {
                        absl::MutexLock lock(&call->mutex);
                        return call->abandoned ? absl::CancelledError("nobody waits for it")
                                               : store(access);
                      },
                  .stored =
                      [call, stored = std::move(stored)](const absl::Status& status) {
                        call->status = status;
                        if (status.ok()) stored();
                        call->done.Notify();
                      }});
  if (call->done.WaitForNotificationWithTimeout(kStorePatience)) return call->status;
  absl::MutexLock lock(&call->mutex);
  call->abandoned = true;
  return CantBeWritten();
}

absl::StatusOr<db::SweepRecord> SweepEngine::Create(const NewSweep& made) {
  auto created = std::make_shared<SweepStored>();
  db::SweepRecord unnamed = made.sweep;
  unnamed.name_stem = SweepIdStem(made.sweep.model);
  RETURN_IF_ERROR(StoreNow(
      [created, unnamed, trials = made.trials](db::SweepAccess& access) -> absl::Status {
        ASSIGN_OR_RETURN(const db::SweepRecord sweep, access.CreateSweep(unnamed, trials));
        ASSIGN_OR_RETURN(*created, ReadActive(sweep, access));
        return absl::OkStatus();
      },
      [this, created] { Decide(*created); }));
  writer_.Flush(kStorePatience);
  return store_->GetSweepById(created->sweep.id);
}

absl::StatusOr<db::SweepRecord> SweepEngine::Cancel(std::string_view name, std::string_view actor) {
  ASSIGN_OR_RETURN(const db::SweepRecord sweep, store_->GetSweep(name));
  if (db::HasEnded(sweep.state)) return HasEndedAlready(sweep, "cancelled");
  const EngineOutput output = Decide(CancelRequested{std::string(name), std::string(actor)});
  if (absl::IsNotFound(output.status)) {
    // It ended just now.
    writer_.Flush(kStorePatience);
    ASSIGN_OR_RETURN(const db::SweepRecord ended, store_->GetSweepById(sweep.id));
    return HasEndedAlready(ended, "cancelled");
  }
  RETURN_IF_ERROR(output.status);
  if (!writer_.Flush(kStorePatience)) return CantBeWritten();
  return store_->GetSweepById(sweep.id);
}

absl::Status SweepEngine::Delete(std::string_view name, bool force, std::string_view actor) {
  ASSIGN_OR_RETURN(const db::SweepRecord sweep, store_->GetSweep(name));
  if (!db::HasEnded(sweep.state)) {
    if (!force) {
      return absl::FailedPreconditionError(
          absl::StrCat("sweep ", sweep.name, " can't be deleted: it is ",
                       View(db::SweepStateName(sweep.state)), "; cancel it first (--force does)"));
    }
    const absl::Status cancelled = Cancel(name, actor).status();
    if (!cancelled.ok() && !absl::IsFailedPrecondition(cancelled)) return cancelled;
  }
  return StoreNow([id = sweep.id](db::SweepAccess& access) { return access.DeleteSweep(id); },
                  [this, id = sweep.id, deleted = sweep.name, by = std::string(actor)] {
                    Log(absl::StrCat(FormatSweepName(deleted), " was deleted",
                                     by.empty() ? "" : absl::StrCat(" by ", by)));
                    hub_->PublishDeleted(id);
                  });
}

ConnectionId SweepEngine::ConnectionOf(const AgentLink* link) const {
  for (const auto& [connection, known] : links_) {
    if (known.get() == link) return connection;
  }
  return 0;
}

absl::Status SweepEngine::Connect(AgentInfo info, const std::vector<agent::AttemptKey>& held,
                                  std::shared_ptr<AgentLink> link) {
  absl::MutexLock lock(&mutex_);
  const ConnectionId connection = ++last_connection_;
  links_[connection] = std::move(link);
  const EngineOutput output = DecideLocked(AgentConnected{std::move(info), connection, held});
  if (!output.status.ok()) links_.erase(connection);
  return output.status;
}

void SweepEngine::Disconnect(const std::string& agent, const AgentLink* link) {
  absl::MutexLock lock(&mutex_);
  const ConnectionId connection = ConnectionOf(link);
  if (connection == 0) return;
  DecideLocked(AgentDisconnected{agent, connection});
  links_.erase(connection);
}

void SweepEngine::Leave(const std::string& agent, const AgentLink* link,
                        const std::string& reason) {
  absl::MutexLock lock(&mutex_);
  const ConnectionId connection = ConnectionOf(link);
  if (connection == 0) return;
  DecideLocked(AgentLeft{agent, connection, reason});
  links_.erase(connection);
}

void SweepEngine::Heartbeat(const std::string& agent, const std::vector<agent::AttemptKey>& held) {
  Decide(HeartbeatCame{agent, held});
}

void SweepEngine::Started(const std::string& agent, const agent::AttemptKey& key) {
  Decide(TrialStarted{agent, key});
}

void SweepEngine::Progress(const std::string& agent, const agent::AttemptKey& key,
                           const trial::TrialProgress& progress) {
  EngineOutput output = Decide(TrialProgressed{agent, key, progress});
  if (output.progress) hub_->PublishProgress(*std::move(output.progress));
}

std::optional<SweepEngine::TrialPlace> SweepEngine::PlaceOf(const agent::AttemptKey& key) {
  absl::MutexLock lock(&mutex_);
  const ActiveSweep* const sweep = core_.FindSweep(key.sweep);
  if (sweep == nullptr) return std::nullopt;
  TrialPlace place{sweep->id(), {.devices = sweep->devices(), .steps = sweep->steps()}};
  if (const auto known = work_.find(sweep->id()); known != work_.end()) place.work = known->second;
  return place;
}

absl::StatusOr<std::optional<StepWork>> SweepEngine::WorkOf(const TrialPlace& place,
                                                            int32_t trial) {
  if (place.work) return place.work;
  const absl::StatusOr<std::string> plan = store_->GetPlan(place.sweep_id, trial);
  // Of a trial that is not there the result is refused all the same.
  if (absl::IsNotFound(plan.status())) return std::nullopt;
  RETURN_IF_ERROR(plan.status());
  const std::optional<StepWork> work = StepWorkOf(*plan);
  absl::MutexLock lock(&mutex_);
  std::erase_if(work_, [&](const auto& known) { return !core_.sweeps().contains(known.first); });
  if (work) work_[place.sweep_id] = *work;
  return work;
}

void SweepEngine::Finish(const std::string& agent, const agent::AttemptKey& key,
                         const trial::TrialResult& result, FinishDone done) {
  const std::optional<TrialPlace> place = PlaceOf(key);
  auto digested = std::make_shared<DigestedResult>();
  if (place) {
    const absl::StatusOr<std::optional<StepWork>> work = WorkOf(*place, key.trial);
    if (!work.ok()) return done(Retry(work.status()));
    *digested = DigestResult(result, *work, place->limits);
  } else {
    digested->delivered = result;
  }
  EngineOutput output;
  {
    absl::MutexLock lock(&mutex_);
    output = Handle(TrialFinished{agent, key, digested});
    const bool is_told_later =
        output.verdict && output.verdict->kind != FinishVerdict::Kind::kRetry;
    std::function<void(const absl::Status&)> stored;
    if (is_told_later) {
      stored = [done, verdict = *output.verdict](const absl::Status& status) {
        done(status.ok() ? verdict : Retry(status));
      };
    }
    Submit(output, std::move(stored));
    if (is_told_later) return;
  }
  if (output.result_is_late) {
    FinishLate(agent, key, digested->delivered, std::move(done));
  } else {
    done(*output.verdict);
  }
}

absl::StatusOr<FinishVerdict> SweepEngine::JudgeLate(const std::string& agent,
                                                     const agent::AttemptKey& key,
                                                     const trial::TrialResult& result,
                                                     absl::Time now, db::SweepAccess& access) {
  constexpr FinishVerdict::Kind kRefused = FinishVerdict::Kind::kRefused;
  ASSIGN_OR_RETURN(const db::SweepRecord sweep, access.GetSweep(key.sweep));
  ASSIGN_OR_RETURN(const db::TrialRecord trial, access.GetTrial(sweep.id, key.trial));
  if (trial.measured && trial.attempt == key.attempt) {
    return FinishVerdict{FinishVerdict::Kind::kStored, "it was stored before"};
  }
  if (result.outcome == trial::TrialOutcome::kCancelled) {
    return FinishVerdict{kRefused, "a cancelled attempt has no result"};
  }
  ASSIGN_OR_RETURN(const std::vector<db::AttemptRecord> attempts,
                   access.ListAttempts(sweep.id, key.trial));
  const bool was_given =
      std::any_of(attempts.begin(), attempts.end(),
                  [&](const db::AttemptRecord& attempt) { return attempt.number == key.attempt; });
  std::string reason = absl::StrCat("attempt ", key.attempt, " was never given out");
  if (was_given && trial.measured) {
    reason = absl::StrCat("attempt ", trial.attempt, " had a result before");
  } else if (was_given) {
    reason = absl::StrCat("the sweep is ", View(db::SweepStateName(sweep.state)));
  }
  db::EventRecord event{.sweep_id = sweep.id,
                        .trial = key.trial,
                        .attempt = key.attempt,
                        .kind = "result_refused",
                        .time = now};
  event.message = absl::StrCat("result of agent ", agent, " refused: ", reason);
  event.data_json = ToJson(result).dump();
  RETURN_IF_ERROR(access.AppendEvent(event).status());
  return FinishVerdict{kRefused, std::move(reason)};
}

void SweepEngine::FinishLate(const std::string& agent, const agent::AttemptKey& key,
                             const trial::TrialResult& result, FinishDone done) {
  auto verdict = std::make_shared<FinishVerdict>();
  writer_.Submit({.store =
                      [=, now = clock_()](db::SweepAccess& access) {
                        const absl::StatusOr<FinishVerdict> judged =
                            JudgeLate(agent, key, result, now, access);
                        if (judged.ok()) *verdict = *judged;
                        return judged.status();
                      },
                  .stored =
                      [verdict, done = std::move(done)](const absl::Status& status) {
                        if (absl::IsNotFound(status)) {
                          *verdict = {FinishVerdict::Kind::kRefused, std::string(status.message())};
                        } else if (!status.ok()) {
                          *verdict = Retry(status);
                        }
                        done(*verdict);
                      }});
}

std::vector<AgentStatus> SweepEngine::ListAgents() {
  absl::MutexLock lock(&mutex_);
  std::vector<AgentStatus> agents;
  for (const auto& [name, agent] : core_.agents().all()) {
    agents.push_back({agent.info, {}});
    for (const HeldAttempt& held : agent.held) agents.back().held.push_back(held.key);
  }
  return agents;
}

void SweepEngine::CloseAgents(const absl::Status& status) {
  absl::MutexLock lock(&mutex_);
  for (const auto& [connection, link] : links_) link->Close(status);
}

void SweepEngine::Tick() { Decide(meshwright::server::Tick()); }

}  // namespace meshwright::server
