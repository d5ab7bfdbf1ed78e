#include "server/engine/engine_output.h"

namespace meshwright::server {
namespace {

struct Applier {
  db::SweepAccess& store;

  absl::Status operator()(const db::TrialTransition& op) const { return store.UpdateTrial(op); }
  absl::Status operator()(const db::SweepTransition& op) const { return store.UpdateSweep(op); }
  absl::Status operator()(const SweepCancellation& op) const {
    return store.CancelSweep(op.sweep_id, op.reason, op.time, op.actor);
  }
  absl::Status operator()(const db::LeaseRenewal& op) const { return store.RenewLease(op); }
  absl::Status operator()(const db::AgentQuarantine& op) const {
    return store.SetAgentQuarantine(op);
  }
  absl::Status operator()(const db::EventRecord& op) const {
    return store.AppendEvent(op).status();
  }
};

}  // namespace

absl::Status Apply(const StoreOp& op, db::SweepAccess& store) {
  return std::visit(Applier{store}, op);
}

}  // namespace meshwright::server
