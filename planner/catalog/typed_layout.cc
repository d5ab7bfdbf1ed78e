#include "planner/catalog/typed_layout.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"

namespace meshwright::planner {
namespace {

// Returns whether a part of the text is the key with a number.
bool Says(std::string_view text, std::string_view key) {
  const std::vector<absl::string_view> parts = absl::StrSplit(AbslView(text), '.');
  return std::any_of(parts.begin(), parts.end(), [key](absl::string_view part) {
    return absl::ConsumePrefix(&part, AbslView(key)) && !part.empty() &&
           absl::ascii_isdigit(static_cast<unsigned char>(part.front()));
  });
}

}  // namespace

absl::StatusOr<TypedLayout> ReadTypedLayout(std::string_view text, const ModelSpec& model,
                                            const FrameworkProfile& profile,
                                            std::optional<int64_t> devices) {
  ASSIGN_OR_RETURN(const Layout layout, ParseLayoutOn(text, devices));
  TypedLayout typed{layout, {}};
  if (profile.supports.etp_follows_tp && model.has_experts() && layout.tp > 1 && Says(text, "ep") &&
      !Says(text, "etp")) {
    typed.layout.etp = layout.tp;
    typed.notes.push_back(absl::StrCat("etp", layout.tp, ": ", profile.name,
                                       " divides experts over the tp ranks unless the layout says "
                                       "an etp"));
  }
  if (layout.zero > 0 && int64_t{layout.dp} * layout.cp == 1) {
    typed.layout.zero = 0;
    typed.notes.push_back(absl::StrCat("zero", layout.zero,
                                       " has nothing to shard over on one data-parallel rank: "
                                       "planned as zero0"));
  }
  return typed;
}

absl::StatusOr<TypedLayout> ReadRunningLayout(std::string_view text, const ModelSpec& model,
                                              const FrameworkProfile& profile,
                                              std::optional<int64_t> devices) {
  ASSIGN_OR_RETURN(TypedLayout typed, ReadTypedLayout(text, model, profile, devices));
  const int32_t usual = std::max(profile.supports.unsaid_zero, profile.supports.min_zero);
  Layout& layout = typed.layout;
  if (Says(text, "zero") || usual == 0 || int64_t{layout.dp} * layout.cp == 1) return typed;
  layout.zero = usual;
  typed.notes.push_back(absl::StrCat("zero", usual, ": the layout says no ZeRO stage, and this is ",
                                     profile.name, "'s; zero0 says that nothing is sharded"));
  return typed;
}

}  // namespace meshwright::planner
