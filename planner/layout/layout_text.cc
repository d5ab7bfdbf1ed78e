// The text form of layouts: FormatLayout(), ShortLayout() and ParseLayout() of
// planner/layout/layout.h, as the table of keys has it.
#include <array>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/text/enum_names.h"
#include "base/text/field_error.h"
#include "base/text/message_text.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/layout/keys.h"
#include "planner/layout/layout.h"

namespace meshwright::planner {
namespace {

absl::Status LayoutError(absl::string_view part, absl::string_view problem) {
  return FieldError("layout", StdView(part), StdView(problem));
}

// Every key that a text may leave out only with its default, as in "tp1.cp1.pp1.dp1.mb1 …".
std::string ExampleText() { return FormatLayout(Layout()); }

absl::Status NoPart(absl::string_view part) {
  return LayoutError(part, absl::StrCat("not a part of a layout; a layout reads ", ExampleText()));
}

// Reads one part such as "tp4", and returns the key that it sets.
absl::StatusOr<const LayoutKey*> ReadPart(absl::string_view part, Layout& layout) {
  const size_t end = part.find_first_not_of("abcdefghijklmnopqrstuvwxyz");
  absl::string_view value = part.substr(end == absl::string_view::npos ? part.size() : end);
  const LayoutKey* key = FindKey(StdView(part.substr(0, part.size() - value.size())));
  if (key == nullptr || !absl::ConsumePrefix(&value, AbslView(key->separator))) return NoPart(part);
  if (key->kind == KeyKind::kSwitch && value != "0" && value != "1") return NoPart(part);
  RETURN_IF_ERROR(WithField(ReadValue(*key, StdView(value), layout), "layout"));
  return key;
}

absl::Status CheckNeeded(const std::array<bool, kLayoutKeyCount>& given, std::string_view text) {
  std::vector<std::string_view> needed;
  for (const LayoutKey& key : kLayoutKeys) {
    if (key.text != KeyText::kNeeded) continue;
    if (given[IndexOf(key)]) return absl::OkStatus();
    needed.push_back(key.name);
  }
  return LayoutError(AbslView(text),
                     absl::StrCat("must have at least one of ", ListInWords(needed, "and")));
}

// The schedule of a text without one.
ScheduleKind UsualSchedule(const Layout& layout) {
  return layout.vpp > 1 ? ScheduleKind::kInterleaved : ScheduleKind::k1f1b;
}

void AppendKey(const LayoutKey& key, const Layout& layout, std::string& text) {
  absl::StrAppend(&text, text.empty() ? "" : ".", AbslView(key.name), AbslView(key.separator),
                  ValueText(key, layout));
}

}  // namespace

std::string FormatLayout(const Layout& layout) {
  std::string text;
  for (const LayoutKey& key : kLayoutKeys) {
    if (key.text == KeyText::kUnlessDefault && HasDefault(key, layout)) continue;
    if (key.text == KeyText::kWithExperts && !layout.divides_experts()) continue;
    AppendKey(key, layout, text);
  }
  return text;
}

bool IsInShortText(const LayoutKey& key, const Layout& layout) {
  if (key.name == "dp" && layout.devices() == 1) return true;  // a text needs at least one axis
  Layout usual;
  usual.schedule = UsualSchedule(layout);
  return !key.same(layout, usual);
}

std::string ShortLayout(const Layout& layout) {
  std::string text;
  for (const LayoutKey& key : kLayoutKeys) {
    if (IsInShortText(key, layout)) AppendKey(key, layout, text);
  }
  return text;
}

absl::StatusOr<Layout> ParseLayout(std::string_view text) {
  return ParseLayoutOn(text, std::nullopt);
}

absl::StatusOr<Layout> ParseLayoutOn(std::string_view text, std::optional<int64_t> devices) {
  Layout layout;
  std::array<bool, kLayoutKeyCount> given{};
  const std::string lower = absl::AsciiStrToLower(AbslView(text));
  for (const absl::string_view part : absl::StrSplit(lower, '.')) {
    ASSIGN_OR_RETURN(const LayoutKey* key, ReadPart(part, layout));
    if (std::exchange(given[IndexOf(*key)], true)) {
      return LayoutError(part, absl::StrCat(AbslView(key->name), " is given twice"));
    }
  }
  RETURN_IF_ERROR(CheckNeeded(given, text));
  constexpr size_t kSchedule = IndexOf(*FindKey("sched"));
  if (!given[kSchedule]) layout.schedule = UsualSchedule(layout);
  constexpr size_t kDp = IndexOf(*FindKey("dp"));
  if (!given[kDp] && devices.value_or(0) > 0 && *devices % layout.devices() == 0 &&
      *devices / layout.devices() <= kMaxAxis) {
    layout.dp = static_cast<int32_t>(*devices / layout.devices());
  }
  return layout;
}

}  // namespace meshwright::planner
