#include "planner/layout/layout.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/text/enum_names.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"

namespace meshwright::planner {
namespace {

constexpr EnumNames<ScheduleKind, 6> kSchedules = {{
    {ScheduleKind::kGpipe, "gpipe"},
    {ScheduleKind::k1f1b, "1f1b"},
    {ScheduleKind::kInterleaved, "interleaved"},
    {ScheduleKind::kBreadthFirst, "breadth_first"},
    {ScheduleKind::kZbH1, "zb_h1"},
    {ScheduleKind::kZbV, "zb_v"},
}};

// A numeric key of the text form with its bounds.
struct NumberKey {
  std::string_view name;
  int32_t Layout::*field;
  int32_t low;
  int32_t high;
};

// Of the experts' mesh, in the order of the text form, which has them where one is above 1.
constexpr std::array<NumberKey, 2> kExpertNumbers = {{
    {"ep", &Layout::ep, 1, kMaxAxis},
    {"etp", &Layout::etp, 1, kMaxAxis},
}};
// Behind them.
constexpr std::array<NumberKey, 3> kOtherNumbers = {{
    {"mb", &Layout::micro_batch, 1, kMaxAxis},
    {"vpp", &Layout::vpp, 1, kMaxAxis},
    {"zero", &Layout::zero, 0, 3},
}};

std::optional<NumberKey> NumberKeyOf(std::string_view name) {
  for (const AxisField& axis : kAxes) {
    if (axis.name == name) return NumberKey{axis.name, axis.size, 1, axis.most};
  }
  for (const NumberKey& number : kExpertNumbers) {
    if (number.name == name) return number;
  }
  for (const NumberKey& number : kOtherNumbers) {
    if (number.name == name) return number;
  }
  return std::nullopt;
}

absl::Status LayoutError(absl::string_view part, absl::string_view problem) {
  return FieldError("layout", StdView(part), StdView(problem));
}

absl::Status ParseSchedule(absl::string_view value, Layout& layout) {
  for (const auto& [kind, name] : kSchedules) {
    if (StdView(value) == name) {
      layout.schedule = kind;
      return absl::OkStatus();
    }
  }
  return LayoutError(absl::StrCat("sched=", value),
                     "sched must be gpipe, 1f1b, interleaved, breadth_first, zb_h1 or zb_v");
}

template <typename Kernel>
absl::Status SetKernel(const absl::StatusOr<Kernel>& parsed, Kernel& kernel) {
  if (!parsed.ok()) return WithField(parsed.status(), "layout");
  kernel = *parsed;
  return absl::OkStatus();
}

// Reads one part such as "tp4"; `key` becomes the name of what it set.
absl::Status ParsePart(absl::string_view part, Layout& layout, absl::string_view& key) {
  absl::string_view value = part;
  if (absl::ConsumePrefix(&value, "rc=")) {
    key = "rc";
    return ParseRecompute(StdView(value), layout);
  }
  if (absl::ConsumePrefix(&value, "sched=")) {
    key = "sched";
    return ParseSchedule(value, layout);
  }
  if (absl::ConsumePrefix(&value, "attn=")) {
    key = "attn";
    return SetKernel(ParseAttentionKernel(StdView(value)), layout.attention);
  }
  if (absl::ConsumePrefix(&value, "norm=")) {
    key = "norm";
    return SetKernel(ParseNormKernel(StdView(value)), layout.norm);
  }
  if (absl::string_view ranks = part; absl::ConsumePrefix(&ranks, "hs=")) {
    key = "hs";
    if (absl::SimpleAtoi(ranks, &layout.shard_ranks) && layout.shard_ranks >= 2 &&
        layout.shard_ranks <= kMaxAxis) {
      return absl::OkStatus();
    }
    return LayoutError(part, absl::StrFormat("hs takes a whole number from 2 to %d", kMaxAxis));
  }
  if (absl::ConsumePrefix(&value, "stages=")) {
    key = "stages";
    const absl::StatusOr<StageSplit> split = ParseStageSplit(StdView(value));
    if (!split.ok()) return WithField(split.status(), "layout");
    layout.stages = *split;
    return absl::OkStatus();
  }
  if (absl::ConsumePrefix(&value, "offload=")) {
    key = "offload";
    const absl::StatusOr<Offload> offload = ParseOffload(StdView(value));
    if (!offload.ok()) return WithField(offload.status(), "layout");
    layout.offload = *offload;
    return absl::OkStatus();
  }
  if (part == "sp0" || part == "sp1") {
    key = "sp";
    layout.sequence_parallel = part == "sp1";
    return absl::OkStatus();
  }
  const size_t digits = part.find_first_not_of("abcdefghijklmnopqrstuvwxyz");
  const absl::string_view name = part.substr(0, digits);
  if (const auto number = NumberKeyOf(StdView(name)); number.has_value()) {
    key = AbslView(number->name);
    int32_t parsed = 0;
    if (!absl::SimpleAtoi(part.substr(name.size()), &parsed) || parsed < number->low ||
        parsed > number->high) {
      return LayoutError(part, absl::StrFormat("%s takes a whole number from %d to %d", name,
                                               number->low, number->high));
    }
    layout.*number->field = parsed;
    return absl::OkStatus();
  }
  return LayoutError(part,
                     "not a part of a layout; a layout reads "
                     "tp1.cp1.pp1.dp1.mb1.vpp1.zero0.sp0.rc=none.sched=1f1b");
}

}  // namespace

std::string ProductOfAxesText() {
  std::string text;
  for (const AxisField& axis : kAxes) {
    absl::StrAppend(&text, text.empty() ? "" : " * ", AbslView(axis.name));
  }
  return text;
}

std::string FormatRecompute(const Layout& layout) {
  if (layout.recompute == Recompute::kBlock) {
    return absl::StrCat("block:", layout.recompute_layers);
  }
  if (layout.recompute == Recompute::kModules) {
    return NamesOf(layout.recompute_modules, RecomputeModuleName, "+");
  }
  return std::string(RecomputeName(layout.recompute));
}

absl::Status ParseRecompute(std::string_view value, Layout& layout) {
  layout.recompute_layers = 0;
  layout.recompute_modules = {};
  for (const Recompute kind : {Recompute::kNone, Recompute::kSelective, Recompute::kFull}) {
    if (value == RecomputeName(kind)) {
      layout.recompute = kind;
      return absl::OkStatus();
    }
  }
  absl::string_view layers = AbslView(value);
  if (absl::ConsumePrefix(&layers, "block:") &&
      absl::SimpleAtoi(layers, &layout.recompute_layers) && layout.recompute_layers > 0 &&
      layout.recompute_layers <= kMaxAxis) {
    layout.recompute = Recompute::kBlock;
    return absl::OkStatus();
  }
  const absl::StatusOr<RecomputeModules> modules = ParseRecomputeModules(value);
  if (!modules.ok()) {
    return LayoutError(
        absl::StrCat("rc=", AbslView(value)),
        absl::StrCat("rc must be none, selective, full, block:N or modules divided by +: ",
                     AllRecomputeModules()));
  }
  layout.recompute = Recompute::kModules;
  layout.recompute_modules = *modules;
  return absl::OkStatus();
}

std::string_view ScheduleName(ScheduleKind schedule) { return NameOf(kSchedules, schedule); }

std::string FormatLayout(const Layout& l) {
  const std::string_view schedule = ScheduleName(l.schedule);
  std::string text;
  for (const AxisField& axis : kAxes)
    absl::StrAppend(&text, AbslView(axis.name), l.*axis.size, ".");
  const auto append = [&text, &l](const NumberKey& number) {
    absl::StrAppend(&text, AbslView(number.name), l.*number.field, ".");
  };
  if (l.divides_experts()) std::for_each(kExpertNumbers.begin(), kExpertNumbers.end(), append);
  std::for_each(kOtherNumbers.begin(), kOtherNumbers.end(), append);
  absl::StrAppend(&text, "sp", l.sequence_parallel ? 1 : 0, ".rc=");
  absl::StrAppend(&text, FormatRecompute(l));
  text.append(".sched=").append(schedule);
  if (l.attention != AttentionKernel::kDefault) {
    text.append(".attn=").append(AttentionKernelName(l.attention));
  }
  if (l.norm != NormKernel::kDefault) text.append(".norm=").append(NormKernelName(l.norm));
  if (l.shard_ranks > 0) absl::StrAppend(&text, ".hs=", l.shard_ranks);
  if (!l.stages.empty()) absl::StrAppend(&text, ".stages=", FormatStageSplit(l.stages));
  if (l.offload.any()) absl::StrAppend(&text, ".offload=", FormatOffload(l.offload));
  return text;
}

absl::StatusOr<Layout> ParseLayout(std::string_view text) {
  Layout layout;
  const std::string lower = absl::AsciiStrToLower(AbslView(text));
  std::vector<absl::string_view> seen;
  for (const absl::string_view part : absl::StrSplit(lower, '.')) {
    absl::string_view key;
    RETURN_IF_ERROR(ParsePart(part, layout, key));
    for (const absl::string_view earlier : seen) {
      if (earlier == key) return LayoutError(part, absl::StrCat(key, " is given twice"));
    }
    seen.push_back(key);
  }
  const auto has = [&seen](absl::string_view key) {
    return std::find(seen.begin(), seen.end(), key) != seen.end();
  };
  for (const AxisField& axis : kAxes) {
    if (axis.text == AxisText::kNeeded && !has(AbslView(axis.name))) {
      return LayoutError(AbslView(text), absl::StrCat(AbslView(axis.name),
                                                      " is missing; tp, pp and dp must be given"));
    }
  }
  if (!has("sched") && layout.vpp > 1) layout.schedule = ScheduleKind::kInterleaved;
  return layout;
}

}  // namespace meshwright::planner
