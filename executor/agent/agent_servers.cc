// The part of Agent that chooses among its servers and knows their epochs.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/agent/agent.h"
#include "executor/wire/wire.h"

namespace meshwright::agent {

const ServerAccess& Agent::server() const {
  return server_ == 0 ? options_.server : options_.other_servers[server_ - 1];
}

void Agent::PlanDial(bool was_registered) {
  const size_t servers = 1 + options_.other_servers.size();
  ++failures_;
  // A server that worked is tried again first. Only a round of failures is waited after.
  if (!was_registered) server_ = (server_ + 1) % servers;
  const int rounds = failures_ / static_cast<int>(servers);
  const bool waits = was_registered || failures_ % static_cast<int>(servers) == 0;
  next_dial_ = options_.clock();
  if (waits) next_dial_ = next_dial_ + BackoffDelay(std::max(rounds, 1), options_.uniform());
}

void Agent::AddHeld(v1::Register& message) const {
  message.set_held_store_id(store_id_);
  for (const Running& running : running_) {
    if (running.store_id == store_id_) *message.add_held() = wire::ToWire(running.key);
  }
  for (const std::vector<KeptResult>* results : {&results_->kept(), &results_->acknowledged()}) {
    for (const KeptResult& kept : *results) {
      v1::KeptResult* entry = message.add_kept();
      *entry->mutable_ref() = wire::ToWire(kept.key);
      entry->set_store_id(kept.store_id);
      entry->set_acknowledged_epoch(kept.acknowledged_epoch);
    }
  }
  for (const KnownEpoch& known : epochs_.all()) {
    v1::StoreEpoch* entry = message.add_known_epochs();
    entry->set_store_id(known.store_id);
    entry->set_epoch(known.epoch);
    entry->set_address(known.address);
  }
}

absl::Status Agent::CheckEpoch(const v1::Registered& registered) {
  const KnownEpoch known = epochs_.Of(registered.store_id());
  // Servers older than the field send 0.
  if (registered.epoch() > 0 && registered.epoch() < known.epoch) {
    return absl::FailedPreconditionError(
        absl::StrCat("it is of epoch ", registered.epoch(), " of its store, and the server at ",
                     known.address, " took over as epoch ", known.epoch));
  }
  if (registered.epoch() == 0) return absl::OkStatus();
  const absl::Status noted = epochs_.Note({.store_id = registered.store_id(),
                                           .epoch = registered.epoch(),
                                           .address = server().address});
  if (!noted.ok()) Log(LogLevel::kWarning, std::string(noted.message()));
  return absl::OkStatus();
}

void Agent::LeaveOldServer(const absl::Status& why) {
  if (!std::exchange(said_unreachable_, true)) {
    Log(LogLevel::kWarning,
        absl::StrCat("refuses the server ", server().address, ": ", why.message()),
        {.code = absl::StatusCodeToString(why.code())});
  }
  ++session_;  // what the old stream still brings is ignored
  stream_.reset();
  registered_ = false;
  PlanDial(/*was_registered=*/false);
}

}  // namespace meshwright::agent
