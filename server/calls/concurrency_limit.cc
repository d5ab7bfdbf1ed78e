#include "server/calls/concurrency_limit.h"

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "base/text/string_view.h"

namespace meshwright::server {
namespace {

std::string SetBy(std::string_view flag) {
  return flag.empty() ? "" : absl::StrCat(" (serve ", AbslView(flag), ")");
}

}  // namespace

ConcurrencyLimit::Slot::~Slot() { limit_->Free(caller_); }

absl::Status ConcurrencyLimit::Find(const std::string& caller, std::string& limit) const {
  if (options_.most > 0 && taken_ >= options_.most) {
    limit = std::string(options_.things);
    return absl::ResourceExhaustedError(absl::StrCat(
        "the server has ", taken_, " ", AbslView(options_.things),
        ", the most that it takes at once", SetBy(options_.flag), ": try again later"));
  }
  const auto of_caller = by_caller_.find(caller);
  if (options_.most_per_caller == 0 || of_caller == by_caller_.end() ||
      of_caller->second < options_.most_per_caller) {
    return absl::OkStatus();
  }
  limit = absl::StrCat(AbslView(options_.things), "_per_caller");
  return absl::ResourceExhaustedError(
      absl::StrCat(caller, " has ", of_caller->second, " ", AbslView(options_.things),
                   ", the most that one caller may have at once", SetBy(options_.flag_per_caller),
                   ": end one of them, or try again later"));
}

absl::StatusOr<std::unique_ptr<ConcurrencyLimit::Slot>> ConcurrencyLimit::Take(
    const std::string& caller) {
  absl::Status refusal;
  std::string limit;
  {
    absl::MutexLock lock(&mutex_);
    refusal = Find(caller, limit);
    if (refusal.ok()) {
      ++taken_;
      if (!caller.empty()) ++by_caller_[caller];
    }
  }
  if (refusal.ok()) return absl::WrapUnique(new Slot(this, caller));
  if (refused_) refused_(limit, caller, refusal);
  return refusal;
}

void ConcurrencyLimit::Free(const std::string& caller) {
  absl::MutexLock lock(&mutex_);
  --taken_;
  if (const auto of_caller = by_caller_.find(caller); of_caller != by_caller_.end()) {
    if (--of_caller->second == 0) by_caller_.erase(of_caller);
  }
}

}  // namespace meshwright::server
