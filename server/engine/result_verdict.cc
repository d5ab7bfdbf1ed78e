#include "server/engine/result_verdict.h"

#include "absl/strings/str_cat.h"
#include "base/text/string_view.h"

namespace meshwright::server {

std::optional<FinishVerdict> VerdictOn(const ResultClaim& claim) {
  if (claim.measured == claim.attempt) {
    return FinishVerdict{FinishVerdict::Outcome::kStored, "it was stored before"};
  }
  if (claim.is_cancelled) {
    return Refused(absl::StatusCode::kCancelled, "a cancelled attempt has no result");
  }
  if (!claim.was_given) {
    return Refused(absl::StatusCode::kNotFound,
                   absl::StrCat("attempt ", claim.attempt, " was never given out"));
  }
  if (!claim.given_to.empty()) {
    return Refused(
        absl::StatusCode::kPermissionDenied,
        absl::StrCat("attempt ", claim.attempt, " was given to agent ", AbslView(claim.given_to)));
  }
  if (claim.measured) {
    return Refused(absl::StatusCode::kAlreadyExists,
                   absl::StrCat("attempt ", *claim.measured, " had a result before"));
  }
  return std::nullopt;
}

}  // namespace meshwright::server
