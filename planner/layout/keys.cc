#include "planner/layout/keys.h"

#include <array>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/field_error.h"
#include "base/text/message_text.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"

namespace meshwright::planner {
namespace {

const Layout kDefaults;

absl::Status ReadCount(const LayoutKey& key, std::string_view value, Layout& layout) {
  int32_t number = 0;
  if (!absl::SimpleAtoi(AbslView(value), &number) || number < key.low || number > key.high) {
    return FieldError("layout",
                      absl::StrCat(AbslView(key.name), AbslView(key.separator), AbslView(value)),
                      absl::StrFormat("%s takes a whole number from %d to %d", AbslView(key.name),
                                      key.low, key.high));
  }
  key.set_number(number, layout);
  return absl::OkStatus();
}

}  // namespace

namespace layout_key {

absl::Status ReadSchedule(std::string_view value, Layout& layout) {
  for (const auto& [kind, name] : kScheduleNames) {
    if (value == name) {
      layout.schedule = kind;
      return absl::OkStatus();
    }
  }
  return FieldError("layout", absl::StrCat("sched=", AbslView(value)),
                    absl::StrCat("sched must be ", ListInWords(kScheduleWords, "or")));
}

absl::Status ReadAttention(std::string_view value, Layout& layout) {
  ASSIGN_OR_RETURN(layout.attention, ParseAttentionKernel(value));
  return absl::OkStatus();
}

absl::Status ReadNorm(std::string_view value, Layout& layout) {
  ASSIGN_OR_RETURN(layout.norm, ParseNormKernel(value));
  return absl::OkStatus();
}

absl::Status ReadStages(std::string_view value, Layout& layout) {
  ASSIGN_OR_RETURN(layout.stages, ParseStageSplit(value));
  return absl::OkStatus();
}

absl::Status ReadOffload(std::string_view value, Layout& layout) {
  ASSIGN_OR_RETURN(layout.offload, ParseOffload(value));
  return absl::OkStatus();
}

}  // namespace layout_key

int64_t Layout::devices() const {
  return ProductOfAxes(*this, [](Axis) { return true; });
}

bool HasDefault(const LayoutKey& key, const Layout& layout) { return key.same(layout, kDefaults); }

std::string ValueText(const LayoutKey& key, const Layout& layout) {
  return key.value != nullptr ? key.value(layout) : absl::StrCat(key.number(layout));
}

std::string ConditionText(const LayoutKey& key, const Layout& layout) {
  switch (key.kind) {
    case KeyKind::kCount:
    case KeyKind::kSwitch:
      return absl::StrCat(key.number(layout));
    case KeyKind::kWord:
      return std::string(key.words[static_cast<size_t>(key.number(layout))]);
    case KeyKind::kText:
      break;
  }
  return HasDefault(key, layout) ? "none" : key.value(layout);
}

absl::Status ReadValue(const LayoutKey& key, std::string_view value, Layout& layout) {
  return key.read != nullptr ? key.read(value, layout) : ReadCount(key, value, layout);
}

}  // namespace meshwright::planner
