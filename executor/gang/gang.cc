#include "executor/gang/gang.h"

#include <numeric>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"

namespace meshwright::gang {
namespace {

// A shorter secret could be guessed, and OpenSSL takes no longer one as a pre-shared key.
constexpr size_t kLeastSecretBytes = 16;
constexpr size_t kMostSecretBytes = 512;

}  // namespace

absl::Status CheckMembers(const std::vector<Member>& members, int64_t devices) {
  int64_t next = 0;
  for (size_t i = 0; i < members.size(); ++i) {
    const std::string path = absl::StrCat("members[", i, "]");
    if (members[i].first_rank != next) {
      return FieldError(
          absl::StrCat(path, ".first_rank"), members[i].first_rank,
          absl::StrCat("must be ", next, ", the rank after those of the members before it"));
    }
    RETURN_IF_ERROR(CheckRange(absl::StrCat(path, ".ranks"), members[i].ranks, 1, devices - next));
    next += members[i].ranks;
  }
  if (next == devices) return absl::OkStatus();
  return FieldError("members", absl::StrCat(next, " ranks"),
                    absl::StrCat("must have all ", devices, " ranks of the layout"));
}

absl::Status Validate(const Membership& membership, int64_t devices) {
  RETURN_IF_ERROR(CheckMembers(membership.members, devices));
  RETURN_IF_ERROR(CheckRange("member", membership.member, 0,
                             static_cast<int64_t>(membership.members.size()) - 1));
  // The error omits the secret: whoever reads it could join.
  const size_t secret_bytes = membership.secret.size();
  if (secret_bytes < kLeastSecretBytes || secret_bytes > kMostSecretBytes) {
    return FieldError(
        "secret", absl::StrCat(secret_bytes, " bytes"),
        absl::StrCat("must have ", kLeastSecretBytes, " to ", kMostSecretBytes, " bytes"));
  }
  if (membership.address.empty()) return FieldError("address", "", "is needed");
  if (membership.leads() && membership.listener == nullptr) {
    return FieldError("listener", "", "must be given to the leader");
  }
  if (!membership.leads() && membership.rendezvous.empty()) {
    return FieldError("rendezvous", "", "must be given to a follower");
  }
  return absl::OkStatus();
}

std::vector<int32_t> RanksOf(const Member& member) {
  std::vector<int32_t> ranks(static_cast<size_t>(member.ranks));
  std::iota(ranks.begin(), ranks.end(), member.first_rank);
  return ranks;
}

std::string NameOf(const Member& member) {
  const int32_t last = member.first_rank + member.ranks - 1;
  const std::string ranks = member.ranks == 1
                                ? absl::StrCat("rank ", last)
                                : absl::StrCat("ranks ", member.first_rank, " to ", last);
  return absl::StrCat("agent ", member.agent, " (", ranks, ")");
}

}  // namespace meshwright::gang
