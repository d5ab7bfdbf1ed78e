// Server as a standby, and as a server that stops to decide.
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"
#include "server/calls/call_status.h"
#include "server/server.h"

namespace meshwright::server {
namespace {

absl::Status IsStandbyOf(const Standing& standing) {
  return absl::UnavailableError(absl::StrCat(
      "this server is a standby and answers once it took over: call the first server, ",
      standing.follows, ", or give both as --server A,B"));
}

}  // namespace

absl::Status Server::BeginStandby(StoreOpener open) {
  ASSIGN_OR_RETURN(std::unique_ptr<db::StandbyCopy> copy, options_.standby->open_copy());
  {
    absl::MutexLock lock(&take_over_mutex_);
    open_store_ = std::move(open);
  }
  if (copy->complete()) OpenTokensOfCopy();
  auto follower = std::make_unique<Follower>(
      std::move(copy), FollowerOptions{.servers = options_.standby->servers,
                                       .name = options_.standby->name,
                                       .address = address_,
                                       .clock = options_.monotonic_clock,
                                       .log = options_.log,
                                       .renewed = [this] { OpenTokensOfCopy(); },
                                       .failed = [this](const absl::Status& why) { End(why); }});
  dispatcher_.Close(IsStandbyOf(follower->Now()));
  {
    absl::MutexLock lock(&standing_mutex_);
    follower_ = std::move(follower);
  }
  if (options_.metrics != nullptr) {
    options_.metrics->SetStanding([this] { return GetStanding(); });
  }
  return absl::OkStatus();
}

void Server::OpenTokensOfCopy() {
  if (!options_.tls || !tokens_.empty()) return;
  absl::StatusOr<std::unique_ptr<db::TokenStore>> tokens = options_.open_tokens();
  if (tokens.ok()) {
    access_.Begin(tokens_.emplace_back(*std::move(tokens)).get());
  } else if (options_.log) {
    options_.log(
        {.level = LogLevel::kWarning,
         .message = absl::StrCat("tokens of the copy can't be read: ", tokens.status().message())});
  }
}

absl::StatusOr<TakenOver> Server::TakeOver(const std::string& actor) {
  absl::MutexLock lock(&take_over_mutex_);
  if (stopping_.load()) return ServerStops();
  std::unique_ptr<Follower> follower;
  {
    absl::MutexLock standing_lock(&standing_mutex_);
    if (follower_ == nullptr) {
      return absl::FailedPreconditionError(
          authority_ == nullptr
              ? "this server does not decide and is no standby any more"
              : absl::StrCat("this server is no standby: it decides about its store, in epoch ",
                             authority_->own().epoch));
    }
    if (!follower_->Now().lag->complete) {
      return absl::FailedPreconditionError(
          "this standby's copy was never complete: it has no state of the first server to go on "
          "with; a server that is to decide on its own database starts without --standby-of");
    }
    follower = std::move(follower_);
  }
  absl::StatusOr<TakenOver> taken = TakeOverNow(std::move(follower));
  if (!taken.ok()) {
    End(taken.status());
  } else if (options_.log) {
    options_.log(
        {.message = absl::StrCat("took over as epoch ", taken->epoch,
                                 actor.empty() ? "" : absl::StrCat(", as ", actor, " asked"),
                                 "; the copy was ", taken->lag.transactions,
                                 " transactions behind, as far as is known"),
         .about = {.caller = actor}});
  }
  return taken;
}

absl::StatusOr<TakenOver> Server::TakeOverNow(std::unique_ptr<Follower> follower) {
  TakenOver taken{.lag = *follower->Now().lag};
  std::unique_ptr<db::StandbyCopy> copy = follower->Stop();
  const std::string store_id = copy->identity().id;
  ASSIGN_OR_RETURN(taken.epoch, copy->TakeOver());
  copy.reset();
  herald_ = std::make_unique<Herald>(
      options_.standby->servers, db::StoreIdentity{store_id, taken.epoch}, address_, options_.log);
  ASSIGN_OR_RETURN(std::unique_ptr<db::SweepStore> store, open_store_());
  RETURN_IF_ERROR(Begin(std::move(store)));
  return taken;
}

Standing Server::GetStanding() const {
  absl::MutexLock lock(&standing_mutex_);
  if (follower_ != nullptr) return follower_->Now();
  if (authority_ == nullptr) return Standing{.is_standby = options_.standby.has_value()};
  return Standing{.store_id = authority_->own().id,
                  .epoch = authority_->own().epoch,
                  .standbys = changes_->Lags(),
                  .missing = missing_.List()};
}

absl::Status Server::ended() const {
  absl::MutexLock lock(&standing_mutex_);
  return ended_;
}

void Server::End(const absl::Status& why) {
  // Callers go to the next address.
  const absl::Status unavailable = absl::UnavailableError(why.message());
  dispatcher_.Close(unavailable);
  if (decides_.load()) {
    SayServing(false);
    engine_->CloseAgents(unavailable);
  }
  absl::MutexLock lock(&standing_mutex_);
  if (ended_.ok()) ended_ = why;
}

void Server::StopFollowing() {
  herald_.reset();
  std::unique_ptr<Follower> follower;
  {
    absl::MutexLock lock(&standing_mutex_);
    follower = std::move(follower_);
  }
  follower.reset();  // unlocked, since its thread may call End()
}

}  // namespace meshwright::server
