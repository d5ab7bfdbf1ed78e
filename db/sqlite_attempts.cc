// SqliteSweeps: attempts, and who holds which of their ranks.
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"
#include "db/row.h"
#include "db/sqlite_sweeps.h"

namespace meshwright::db {
namespace {

// Adds the members that `select` finds to their attempts; both are in the order of `place_of`.
// Members of attempts that began after `attempts` was read are skipped.
template <typename Attempt, typename PlaceOf>
absl::Status AddMembers(SqliteStatement& select, std::vector<Attempt>& attempts,
                        const PlaceOf& place_of) {
  auto attempt = attempts.begin();
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) return absl::OkStatus();
    PlacedMember placed = ReadMember(select);
    const std::pair<int32_t, int32_t> place(placed.trial, placed.attempt);
    while (attempt != attempts.end() && place_of(*attempt) < place) ++attempt;
    if (attempt == attempts.end()) return absl::OkStatus();
    if (place_of(*attempt) == place) attempt->members.push_back(std::move(placed.member));
  }
}

}  // namespace

absl::StatusOr<std::vector<AttemptRecord>> SqliteSweeps::ListAttempts(int64_t sweep_id,
                                                                      int32_t number) {
  ASSIGN_OR_RETURN(SqliteStatement select,
                   connection_->Prepare(absl::StrCat(
                       SelectAttempts(), "WHERE sweep_id = ? AND trial = ? ORDER BY number")));
  select.Bind(sweep_id).Bind(int64_t{number});
  std::vector<AttemptRecord> attempts;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) break;
    attempts.push_back(ReadAttempt(select));
  }
  ASSIGN_OR_RETURN(SqliteStatement members,
                   connection_->Prepare(absl::StrCat(SelectMembers(),
                                                     "WHERE sweep_id = ? AND trial = ? "
                                                     "ORDER BY attempt, member")));
  members.Bind(sweep_id).Bind(int64_t{number});
  RETURN_IF_ERROR(AddMembers(members, attempts, [&](const AttemptRecord& attempt) {
    return std::pair(number, attempt.number);
  }));
  return attempts;
}

absl::StatusOr<std::vector<AttemptSummary>> SqliteSweeps::ListAttemptSummaries(int64_t sweep_id) {
  ASSIGN_OR_RETURN(SqliteStatement select,
                   connection_->Prepare(absl::StrCat(SelectAttemptSummaries(),
                                                     "WHERE sweep_id = ? ORDER BY trial, number")));
  select.Bind(sweep_id);
  std::vector<AttemptSummary> summaries;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) break;
    summaries.push_back(ReadAttemptSummary(select));
  }
  ASSIGN_OR_RETURN(SqliteStatement members,
                   connection_->Prepare(absl::StrCat(SelectMembers(),
                                                     "WHERE sweep_id = ? "
                                                     "ORDER BY trial, attempt, member")));
  members.Bind(sweep_id);
  RETURN_IF_ERROR(AddMembers(members, summaries, [](const AttemptSummary& attempt) {
    return std::pair(attempt.trial, attempt.number);
  }));
  return summaries;
}

absl::Status SqliteSweeps::SetAttempt(const TrialTransition& transition, int32_t attempt,
                                      std::optional<int64_t> end_us, std::string_view outcome,
                                      const std::string& reason) {
  ASSIGN_OR_RETURN(
      SqliteStatement update,
      connection_->Prepare("UPDATE attempts SET end_time_us = ?, outcome = ?, reason = ? "
                           "WHERE sweep_id = ? AND trial = ? AND number = ?"));
  update.Bind(end_us).Bind(outcome).Bind(reason);
  update.Bind(transition.sweep_id).Bind(int64_t{transition.number}).Bind(int64_t{attempt});
  return update.Run();
}

absl::Status SqliteSweeps::RenewLease(const LeaseRenewal& renewal) {
  ASSIGN_OR_RETURN(
      SqliteStatement update,
      connection_->Prepare("UPDATE attempts SET lease_end_us = ? WHERE sweep_id = ? AND trial = ? "
                           "AND number = ? AND end_time_us IS NULL"));
  update.Bind(ToMicros(renewal.lease_end)).Bind(renewal.sweep_id);
  update.Bind(int64_t{renewal.trial}).Bind(int64_t{renewal.attempt});
  RETURN_IF_ERROR(update.Run());
  if (connection_->Changes() == 1) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat("trial ", renewal.trial, " has no attempt ",
                                         renewal.attempt, " that has not ended"));
}

absl::Status SqliteSweeps::RecordNewAttempt(const TrialTransition& transition) {
  ASSIGN_OR_RETURN(SqliteStatement attempt,
                   connection_->Prepare("INSERT INTO attempts (sweep_id, trial, number, "
                                        "start_time_us, decision, policy_version, lease_end_us) "
                                        "VALUES (?, ?, ?, ?, ?, ?, ?)"));
  attempt.Bind(transition.sweep_id).Bind(int64_t{transition.number});
  attempt.Bind(int64_t{transition.to_attempt}).Bind(ToMicros(transition.time));
  attempt.Bind(transition.reason).Bind(int64_t{transition.policy_version});
  std::optional<int64_t> lease_end_us;
  if (transition.lease_end) lease_end_us = ToMicros(*transition.lease_end);
  attempt.Bind(lease_end_us);
  RETURN_IF_ERROR(attempt.Run());
  const std::vector<AttemptMember>& members = transition.members;
  for (size_t member = 0; member < members.size(); ++member) {
    ASSIGN_OR_RETURN(SqliteStatement placement,
                     connection_->Prepare("INSERT INTO placements (sweep_id, trial, attempt, "
                                          "member, agent, host, first_rank, ranks, first_device) "
                                          "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    placement.Bind(transition.sweep_id).Bind(int64_t{transition.number});
    placement.Bind(int64_t{transition.to_attempt}).Bind(static_cast<int64_t>(member));
    placement.Bind(members[member].agent).Bind(members[member].host);
    placement.Bind(int64_t{members[member].first_rank}).Bind(int64_t{members[member].ranks});
    placement.Bind(int64_t{members[member].first_device});
    RETURN_IF_ERROR(placement.Run());
  }
  return absl::OkStatus();
}

absl::Status SqliteSweeps::SetFailed(const TrialTransition& transition, int32_t attempt,
                                     bool failed) {
  ASSIGN_OR_RETURN(SqliteStatement update,
                   connection_->Prepare("UPDATE placements SET failed = ?1 "
                                        "WHERE sweep_id = ?2 AND trial = ?3 AND attempt = ?4 "
                                        "AND (?5 IS NULL OR agent = ?5)"));
  update.Bind(int64_t{failed}).Bind(transition.sweep_id).Bind(int64_t{transition.number});
  update.Bind(int64_t{attempt}).Bind(failed ? transition.failed_agent : std::nullopt);
  return update.Run();
}

absl::Status SqliteSweeps::RecordAttempt(const TrialTransition& transition) {
  if (transition.to_state == TrialState::kAssigned) {
    return RecordNewAttempt(transition);
  }
  const bool held = IsHeld(transition.from_state);
  if (transition.lost || transition.broken) {
    RETURN_IF_ERROR(SetFailed(transition, transition.from_attempt, true));
  }
  if (!held && transition.to_state == TrialState::kRunning) {
    RETURN_IF_ERROR(SetFailed(transition, transition.to_attempt, false));
    return SetAttempt(transition, transition.to_attempt, std::nullopt, "", "");
  }
  if (HasEnded(transition.to_state) && !transition.lost) {
    RETURN_IF_ERROR(SetAttempt(transition, transition.to_attempt, ToMicros(transition.time),
                               TrialStateName(transition.to_state), transition.reason));
    if (!held || transition.from_attempt == transition.to_attempt) return absl::OkStatus();
    return SetAttempt(transition, transition.from_attempt, ToMicros(transition.time),
                      TrialStateName(TrialState::kCancelled),
                      absl::StrCat("the result of attempt ", transition.to_attempt, " came"));
  }
  if (!held || IsHeld(transition.to_state)) return absl::OkStatus();
  const std::string_view outcome = transition.lost     ? kLostOutcome
                                   : transition.broken ? kBrokenOutcome
                                                       : kReturnedOutcome;
  return SetAttempt(transition, transition.from_attempt, ToMicros(transition.time), outcome,
                    transition.reason);
}

}  // namespace meshwright::db
