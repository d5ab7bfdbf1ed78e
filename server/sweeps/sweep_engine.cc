#include "server/sweeps/sweep_engine.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "proto/meshwright/v1/resource_names.h"
#include "server/sweeps/related_sweeps.h"
#include "server/sweeps/with_target_step.h"

namespace meshwright::server {
namespace {

// A caller waits this long for a store that can't be written.
constexpr absl::Duration kStorePatience = absl::Seconds(10);

// Events are pruned once a day, this many at a time, so that nobody waits long for the store.
constexpr absl::Duration kBetweenPrunings = absl::Hours(24);
constexpr int64_t kEventsAtOnce = 5000;

absl::Status CantBeWritten() {
  return absl::UnavailableError("the store can't be written now: try again");
}

absl::StatusOr<SweepStored> ReadActive(const db::SweepRecord& sweep, db::SweepReader& store) {
  ASSIGN_OR_RETURN(std::vector<db::TrialSummary> trials, store.ListTrialSummaries(sweep.id));
  ASSIGN_OR_RETURN(std::vector<db::AttemptSummary> attempts, store.ListAttemptSummaries(sweep.id));
  ASSIGN_OR_RETURN(planner::RelatedSweeps related_sweeps, FindRelatedSweeps(sweep, store));
  return SweepStored{sweep, std::move(trials), std::move(attempts), std::move(related_sweeps)};
}

absl::Status HasEndedAlready(const db::SweepRecord& sweep, absl::string_view verb) {
  return absl::FailedPreconditionError(absl::StrCat("sweep ", sweep.name, " can't be ", verb,
                                                    ": it is ",
                                                    AbslView(db::SweepStateName(sweep.state))));
}

}  // namespace

SweepEngine::SweepEngine(db::SweepStore* store, EventHub* hub, Clock clock,
                         MonotonicClock monotonic_clock, EngineOptions options, LogFunction log,
                         std::function<void()> durable)
    : store_(store),
      hub_(hub),
      clock_(std::move(clock)),
      monotonic_clock_(std::move(monotonic_clock)),
      options_(options),
      log_(std::move(log)),
      core_(options),
      writer_(store,
              {.durable = std::move(durable),
               .events =
                   [hub](std::vector<db::EventRecord> events) { hub->Publish(std::move(events)); },
               .failed =
                   [this](const absl::Status& status) {
                     Log({.level = LogLevel::kError,
                          .message = absl::StrCat("the store can't be written, so decisions wait: ",
                                                  status.message()),
                          .about = {.code = absl::StatusCodeToString(status.code())}});
                     Decide(StoreFailed());
                   },
               .back =
                   [this] {
                     Log({.message = "the store can be written again"});
                     Decide(StoreBack());
                   }}) {}

SweepEngine::~SweepEngine() {
  policy_thread_.Stop();
  writer_.Stop();
}

absl::StatusOr<std::unique_ptr<SweepEngine>> SweepEngine::Start(
    db::SweepStore* store, EventHub* hub, Clock clock, MonotonicClock monotonic_clock,
    EngineOptions options, LogFunction log, std::function<void()> durable) {
  auto engine =
      absl::WrapUnique(new SweepEngine(store, hub, std::move(clock), std::move(monotonic_clock),
                                       options, std::move(log), std::move(durable)));
  ASSIGN_OR_RETURN(const std::string secret, store->AttemptSecret());
  ASSIGN_OR_RETURN(AttemptTokens tokens, AttemptTokens::Make(secret));
  engine->tokens_ = std::make_shared<const AttemptTokens>(std::move(tokens));
  ASSIGN_OR_RETURN(EngineCore core, engine->LoadCore());
  {
    absl::MutexLock lock(&engine->mutex_);
    engine->core_ = std::move(core);
  }
  engine->Tick();
  return engine;
}

void SweepEngine::Log(const LogEntry& entry) const {
  if (log_) log_(entry);
}

EngineOutput SweepEngine::Decide(EngineEvent event) {
  absl::MutexLock lock(&mutex_);
  return DecideLocked(std::move(event));
}

EngineOutput SweepEngine::DecideLocked(EngineEvent event) {
  EngineOutput output = Handle(std::move(event));
  Submit(std::exchange(output.ops, {}), output.sends, {});
  return output;
}

EngineOutput SweepEngine::Handle(EngineEvent event) {
  EngineOutput output = core_.Handle({clock_(), monotonic_clock_(), std::move(event)});
  for (const LogEntry& entry : output.log) Log(entry);
  const std::vector<Message> messages = MessagesOf(output.sends_at_once);
  for (const Message& message : messages) Deliver(message);
  for (const Message& message : messages) message.link->Flush();
  Ask(std::exchange(output.questions, {}));
  return output;
}

void SweepEngine::Ask(std::vector<ChoiceQuestion> questions) {
  for (ChoiceQuestion& question : questions) {
    policy_thread_.Ask(std::move(question), [this, generation = core_generation_](ChoiceMade made) {
      absl::MutexLock lock(&mutex_);
      // A core that was made since asks its own questions.
      if (core_generation_ == generation) DecideLocked(std::move(made));
    });
  }
}

void SweepEngine::Submit(std::vector<StoreOp> ops, const std::vector<Send>& sends,
                         std::function<void(const absl::Status&)> stored) {
  if (ops.empty() && sends.empty() && !stored) return;
  auto messages = std::make_shared<std::vector<Message>>(MessagesOf(sends));
  GroupWriter::Job job;
  const int64_t number = core_number_.load();
  if (!ops.empty()) {
    job.store = [this, number, ops = std::move(ops), messages](db::SweepAccess& access) {
      if (core_number_.load() != number)
        return absl::AbortedError("the engine was loaded again meanwhile");
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
    // An answer is sent together with the agent's next assignment.
    if (stored) stored(status);
    for (const Message& message : *messages) message.link->Flush();
  };
  writer_.Submit(std::move(job));
}

std::vector<SweepEngine::Message> SweepEngine::MessagesOf(const std::vector<Send>& sends) {
  std::vector<Message> messages;
  for (const Send& send : sends) {
    const auto link = links_.find(send.connection);
    if (link == links_.end()) continue;
    messages.push_back({.link = link->second, .send = send});
    if (const auto* assign = std::get_if<AssignOrder>(&send.order)) {
      messages.back().assigned = Assigned(*assign);
    }
  }
  return messages;
}

AssignedAttempt SweepEngine::Assigned(const AssignOrder& order) const {
  AssignedAttempt assigned{.key = order.key,
                           .token = tokens_->TokenOf(order.sweep_id, order.key),
                           .plan_json = {},
                           .reason = order.reason,
                           .members = order.members,
                           .member = order.member,
                           .gang_secret = {}};
  if (order.members.size() > 1) {
    assigned.gang_secret = tokens_->GangSecretOf(order.sweep_id, order.key);
  }
  return assigned;
}

absl::Status SweepEngine::ReadPlans(std::vector<Message>& messages, db::SweepAccess& access) {
  for (Message& message : messages) {
    const auto* assign = std::get_if<AssignOrder>(&message.send.order);
    if (assign == nullptr) continue;
    ASSIGN_OR_RETURN(const std::string plan_json,
                     access.GetPlan(assign->sweep_id, assign->key.trial));
    message.assigned.plan_json = WithTargetStep(plan_json, assign->beat_step_s);
  }
  return absl::OkStatus();
}

void SweepEngine::Deliver(const Message& message) {
  struct Deliverer {
    const Message& message;

    void operator()(const WelcomeOrder&) const { message.link->Welcome(); }
    void operator()(const AssignOrder&) const { message.link->Assign(message.assigned); }
    void operator()(const StartOrder& order) const {
      message.link->Start(order.key, order.rendezvous);
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
    core.Load(stored, clock_(), monotonic_clock_());
  }
  ASSIGN_OR_RETURN(const std::vector<db::AgentQuarantine> quarantines,
                   store_->ListAgentQuarantines());
  core.Load(quarantines);
  return core;
}

void SweepEngine::Reload(const absl::Status& why) {
  Log({.level = LogLevel::kError,
       .message = absl::StrCat("the database does not match the engine's state, so the engine "
                               "is loaded from it again: ",
                               why.message()),
       .about = {.code = absl::StatusCodeToString(why.code())}});
  absl::StatusOr<EngineCore> core = LoadCore();
  absl::MutexLock lock(&mutex_);
  ++core_number_;
  for (const auto& [connection, link] : links_) {
    link->Close(absl::UnavailableError("the server loads its state from its database again"));
  }
  links_.clear();
  if (core.ok()) {
    core_ = *std::move(core);
    ++core_generation_;
  } else {
    Log({.level = LogLevel::kError,
         .message = std::string(core.status().message()),
         .about = {.code = absl::StatusCodeToString(core.status().code())}});
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
      [created, unnamed, trials = made.candidates](db::SweepAccess& access) -> absl::Status {
        ASSIGN_OR_RETURN(const db::SweepRecord sweep, access.CreateSweep(unnamed, trials));
        ASSIGN_OR_RETURN(*created, ReadActive(sweep, access));
        return absl::OkStatus();
      },
      [this, created] { Decide(*created); }));
  writer_.Flush(kStorePatience);
  return store_->GetSweepById(created->sweep.id);
}

absl::StatusOr<int64_t> SweepEngine::Import(std::vector<db::NewImport> runs) {
  auto imported = std::make_shared<int64_t>(0);
  RETURN_IF_ERROR(StoreNow(
      [imported, runs = std::move(runs)](db::SweepAccess& access) -> absl::Status {
        ASSIGN_OR_RETURN(*imported, access.Import(runs));
        return absl::OkStatus();
      },
      [] {}));
  return *imported;
}

absl::StatusOr<db::SweepRecord> SweepEngine::Cancel(std::string_view name, std::string_view actor) {
  ASSIGN_OR_RETURN(const db::SweepRecord sweep, store_->GetSweep(name));
  if (db::HasEnded(sweep.state)) return HasEndedAlready(sweep, "cancelled");
  const EngineOutput output = Decide(CancelRequested{std::string(name), std::string(actor)});
  if (absl::IsNotFound(output.status)) {
    // The sweep ended just now.
    writer_.Flush(kStorePatience);
    ASSIGN_OR_RETURN(const db::SweepRecord ended, store_->GetSweepById(sweep.id));
    return HasEndedAlready(ended, "cancelled");
  }
  RETURN_IF_ERROR(output.status);
  RETURN_IF_ERROR(AwaitStored());
  return store_->GetSweepById(sweep.id);
}

absl::Status SweepEngine::Delete(std::string_view name, bool force, std::string_view actor) {
  ASSIGN_OR_RETURN(const db::SweepRecord sweep, store_->GetSweep(name));
  if (!db::HasEnded(sweep.state)) {
    if (!force) {
      return absl::FailedPreconditionError(absl::StrCat(
          "sweep ", sweep.name, " can't be deleted: it is ",
          AbslView(db::SweepStateName(sweep.state)), "; cancel it first (--force does)"));
    }
    absl::Status cancelled = Cancel(name, actor).status();
    if (!cancelled.ok() && !absl::IsFailedPrecondition(cancelled)) return cancelled;
  }
  return StoreNow([id = sweep.id, time = clock_(), by = std::string(actor)](
                      db::SweepAccess& access) { return access.DeleteSweep(id, time, by); },
                  [this, id = sweep.id, deleted = sweep.name, by = std::string(actor)] {
                    Log({.message = absl::StrCat("the sweep was deleted",
                                                 by.empty() ? "" : absl::StrCat(" by ", by)),
                         .about = {.sweep = deleted, .caller = by}});
                    hub_->PublishDeleted(id);
                  });
}

absl::Status SweepEngine::RequestAndStore(EngineEvent event) {
  const EngineOutput output = Decide(std::move(event));
  RETURN_IF_ERROR(output.status);
  return AwaitStored();
}

absl::Status SweepEngine::AwaitStored() {
  return writer_.Flush(kStorePatience) ? absl::OkStatus() : CantBeWritten();
}

EngineDemand SweepEngine::Demand() {
  const absl::MutexLock lock(&mutex_);
  return core_.Demand();
}

EngineFigures SweepEngine::Figures() {
  const absl::MutexLock lock(&mutex_);
  return core_.Figures();
}

void SweepEngine::Tick() {
  Decide(meshwright::server::Tick());
  PruneWhenDue();
}

void SweepEngine::PruneWhenDue() {
  if (options_.event_retention == absl::InfiniteDuration()) return;
  {
    absl::MutexLock lock(&mutex_);
    if (monotonic_clock_() < next_pruning_) return;
    next_pruning_ = monotonic_clock_() + kBetweenPrunings;
  }
  const auto pruned = std::make_shared<int64_t>(0);
  writer_.Submit({.store = [pruned, before = clock_() - options_.event_retention](
                               db::SweepAccess& access) -> absl::Status {
                    ASSIGN_OR_RETURN(*pruned, access.PruneEvents(before, kEventsAtOnce));
                    return absl::OkStatus();
                  },
                  .stored =
                      [this, pruned](const absl::Status&) {
                        if (*pruned < kEventsAtOnce) return;
                        absl::MutexLock lock(&mutex_);
                        next_pruning_ = MonotonicTime::Always();
                      }});
}

}  // namespace meshwright::server
