// kLayoutKeys is the table of a layout's keys. Code that handles every key loops over this table.
//
// A row determines the key's part of the text form, its entry in the JSON object `axes`, its
// conditions and groups (planner/layout/condition.h, planner/search/group_bests.h), the
// description of its changes, its coordinates for the policy, its part in a layout's complexity
// (planner/search/ties.h), and its columns in measurements and in the store. Which values a search
// enumerates, and how each key changes memory and time, is decided elsewhere.
//
// The keys are in the order of the text form.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "planner/layout/group_role.h"
#include "planner/layout/layout.h"

namespace meshwright::planner {

enum class KeyKind : uint8_t {
  kCount,   // a whole number
  kSwitch,  // 0 or 1
  kWord,    // one of LayoutKey::words
  kText     // a text with a syntax of its own
};

// The rule for when the text form has the key, and the meaning of a text without the key.
enum class KeyText : uint8_t {
  // Always written. A text that is read must have at least one of these keys, and a row of a file
  // of
  // measured runs must have all of them.
  kNeeded,
  kPrinted,       // always; in a text without the key, it has its default
  kWithExperts,   // if experts are divided; in a text without the key, it has its default
  kUnlessDefault  // if the key does not have its default
};

// The way in which the policy measures the distance of two values (planner/policy/trial_point.h).
enum class KeyDistance : uint8_t {
  kOctaves,   // by the number of factors of two between the values
  kSteps,     // by the difference of the values
  kPresence,  // by whether exactly one of the values is the default
  kWords      // any two words are equally far apart
};

// Properties that make a layout less simple, the most important first (planner/search/ties.h).
enum class Burden : uint8_t { kAxes, kChunks, kRecompute, kZero, kSchedule, kNone };
inline constexpr size_t kBurdens = static_cast<size_t>(Burden::kNone);

struct LayoutKey {
  std::string_view name;       // the name in texts, JSON, conditions and the store
  std::string_view also = {};  // another name in conditions
  KeyKind kind = KeyKind::kCount;
  KeyText text = KeyText::kUnlessDefault;
  std::string_view separator = {};  // between name and value in the text form
  // The range of a count in a text. If the default lies below it, a text gives the default by
  // leaving the key out.
  int32_t low = 1;
  int32_t high = kMaxAxis;
  std::span<const std::string_view> words = {};
  // Only for a kText: what a condition accepts in addition to "none", the default.
  std::string_view accepts = {};
  // The words that sentences for users write for an empty value.
  std::string_view absent = {};
  // The role of the groups whose size the key is.
  std::optional<GroupRole> role = std::nullopt;
  // If true, the key is an axis. The product of all axes is the number of devices.
  bool divides_devices = false;
  KeyDistance distance = KeyDistance::kPresence;
  Burden burden = Burden::kNone;
  // Returns how large the burden is. If null, the burden is 1 unless the key has its default.
  int32_t (*burden_of)(const Layout& layout) = nullptr;
  // The key's position among described changes. Keys with the same change_order / 10 (an integer
  // division) belong together: the change of the key with `beside` follows the other key's change
  // in parentheses, as for 30 and 31.
  int32_t change_order = 0;
  bool beside = false;
  // The key's column in measurements (planner/measurement/measurement.h). With `column_in_words`,
  // its cells may use a source's own words; otherwise they have the value of the text form.
  std::string_view column;
  bool column_in_words = true;
  std::string_view help;

  // The makers of rows fill in the next four members. The number of a word is its index in `words`.
  // The number of a text is 0 for the default and 1 otherwise.
  int32_t Layout::*count = nullptr;  // only for a count
  int64_t (*number)(const Layout& layout) = nullptr;
  bool (*same)(const Layout& a, const Layout& b) = nullptr;
  void (*set_number)(int64_t number, Layout& layout) = nullptr;  // not for a text
  // Only for words and texts: `value` returns the value in the syntax of the text form, and `read`
  // sets it. `read` returns InvalidArgument, which says what would be accepted, if the text is
  // wrong.
  std::string (*value)(const Layout& layout) = nullptr;
  absl::Status (*read)(std::string_view value, Layout& layout) = nullptr;
};

// The makers of rows, and the functions that rows refer to.
namespace layout_key {

template <size_t kCount, typename Enum>
constexpr std::array<std::string_view, kCount> WordsOf(const EnumNames<Enum, kCount>& names) {
  std::array<std::string_view, kCount> words;
  for (size_t i = 0; i < kCount; ++i) words[i] = names[i].second;
  return words;
}
inline constexpr auto kRecomputeWords = WordsOf(kRecomputeNames);
inline constexpr auto kScheduleWords = WordsOf(kScheduleNames);
inline constexpr auto kAttentionWords = WordsOf(kAttentionKernelNames);
inline constexpr auto kNormWords = WordsOf(kNormKernelNames);

absl::Status ReadSchedule(std::string_view value, Layout& layout);
absl::Status ReadAttention(std::string_view value, Layout& layout);
absl::Status ReadNorm(std::string_view value, Layout& layout);
absl::Status ReadStages(std::string_view value, Layout& layout);
absl::Status ReadOffload(std::string_view value, Layout& layout);

template <auto kMember>
constexpr LayoutKey Of(KeyKind kind, LayoutKey row) {
  row.kind = kind;
  row.same = [](const Layout& a, const Layout& b) { return a.*kMember == b.*kMember; };
  return row;
}

template <auto kMember>
constexpr LayoutKey Numbered(KeyKind kind, LayoutKey row) {
  row = Of<kMember>(kind, row);
  row.number = [](const Layout& layout) { return static_cast<int64_t>(layout.*kMember); };
  row.set_number = [](int64_t number, Layout& layout) {
    using Member = std::remove_reference_t<decltype(layout.*kMember)>;
    layout.*kMember = static_cast<Member>(number);
  };
  return row;
}

template <int32_t Layout::*kMember>
constexpr LayoutKey Count(LayoutKey row) {
  row = Numbered<kMember>(KeyKind::kCount, row);
  row.count = kMember;
  return row;
}

template <auto kMember>
constexpr LayoutKey Word(LayoutKey row) {
  row.separator = "=";
  row.distance = KeyDistance::kWords;
  return Numbered<kMember>(KeyKind::kWord, row);
}

template <auto kMember>
constexpr LayoutKey Text(LayoutKey row) {
  using Member = std::remove_reference_t<decltype(std::declval<Layout&>().*kMember)>;
  row.separator = "=";
  row.number = [](const Layout& layout) -> int64_t { return layout.*kMember == Member() ? 0 : 1; };
  return Of<kMember>(KeyKind::kText, row);
}

// Makes the row of rc=. The value of rc= is a word, and some words are followed by numbers or
// modules.
constexpr LayoutKey RecomputeKey(LayoutKey row) {
  row = Word<&Layout::recompute>(row);
  row.same = [](const Layout& a, const Layout& b) {
    return a.recompute == b.recompute && a.recompute_layers == b.recompute_layers &&
           a.recompute_modules == b.recompute_modules;
  };
  return row;
}

}  // namespace layout_key

inline constexpr std::array kLayoutKeys = {
    layout_key::Count<&Layout::tp>({.name = "tp",
                                    .text = KeyText::kNeeded,
                                    .role = GroupRole::kTensor,
                                    .divides_devices = true,
                                    .distance = KeyDistance::kOctaves,
                                    .burden = Burden::kAxes,
                                    .change_order = 1,
                                    .column = "tp",
                                    .help = "ranks that share every layer's matrices"}),
    layout_key::Count<&Layout::cp>({.name = "cp",
                                    .text = KeyText::kPrinted,
                                    .role = GroupRole::kContext,
                                    .divides_devices = true,
                                    .distance = KeyDistance::kOctaves,
                                    .burden = Burden::kAxes,
                                    .change_order = 2,
                                    .column = "cp",
                                    .help = "ranks that share a sequence"}),
    layout_key::Count<&Layout::pp>({.name = "pp",
                                    .text = KeyText::kNeeded,
                                    .role = GroupRole::kPipeline,
                                    .divides_devices = true,
                                    .distance = KeyDistance::kOctaves,
                                    .burden = Burden::kAxes,
                                    .change_order = 3,
                                    .column = "pp",
                                    .help = "ranks that share the layers, as a pipeline"}),
    layout_key::Count<&Layout::dp>({.name = "dp",
                                    .text = KeyText::kNeeded,
                                    .role = GroupRole::kData,
                                    .divides_devices = true,
                                    .distance = KeyDistance::kOctaves,
                                    .burden = Burden::kAxes,
                                    .change_order = 4,  // dp gives its ranks to other axes
                                    .beside = true,
                                    .column = "dp",
                                    .help = "ranks that share the batch"}),
    layout_key::Count<&Layout::ep>({.name = "ep",
                                    .text = KeyText::kWithExperts,
                                    .role = GroupRole::kExperts,
                                    .distance = KeyDistance::kOctaves,
                                    .burden = Burden::kAxes,
                                    .change_order = 10,
                                    .column = "ep",
                                    .help = "ranks of a stage that hold different experts"}),
    layout_key::Count<&Layout::etp>({.name = "etp",
                                     .text = KeyText::kWithExperts,
                                     .role = GroupRole::kExpertTensor,
                                     .distance = KeyDistance::kOctaves,
                                     .burden = Burden::kAxes,
                                     .change_order = 20,
                                     .column = "etp",
                                     .help = "ranks that share each expert's matrices"}),
    layout_key::Count<&Layout::micro_batch>({.name = "mb",
                                             .text = KeyText::kPrinted,
                                             .distance = KeyDistance::kOctaves,
                                             .change_order = 40,
                                             .column = "mbs",
                                             .help = "sequences in a micro-batch"}),
    layout_key::Count<&Layout::vpp>(
        {.name = "vpp",
         .text = KeyText::kPrinted,
         .distance = KeyDistance::kOctaves,
         .burden = Burden::kChunks,
         .change_order = 31,
         .beside = true,
         .column = "vpp",
         .help = "number of chunks that a pipeline rank's layers are split into (without pp, one "
                 "rank has all layers); the schedule loops over them"}),
    layout_key::Count<&Layout::zero>(
        {.name = "zero",
         .text = KeyText::kPrinted,
         .low = 0,
         .high = 3,
         .distance = KeyDistance::kSteps,
         .burden = Burden::kZero,
         .burden_of = [](const Layout& layout) { return layout.zero; },
         .change_order = 60,
         .column = "zero_stage",
         .help = "data-parallel ranks shard: 1 optimizer, 2 gradients too, 3 weights too"}),
    layout_key::Numbered<&Layout::sequence_parallel>(
        KeyKind::kSwitch, {.name = "sp",
                           .text = KeyText::kPrinted,
                           .low = 0,
                           .high = 1,
                           .distance = KeyDistance::kSteps,
                           .change_order = 50,
                           .column = "seq_parallel",
                           .help = "1: sequence parallelism, which splits the activations around "
                                   "norms over the tp ranks"}),
    layout_key::RecomputeKey(
        {.name = "rc",
         .text = KeyText::kPrinted,
         .words = layout_key::kRecomputeWords,
         .burden = Burden::kRecompute,
         .burden_of = [](const Layout& layout) { return static_cast<int32_t>(layout.recompute); },
         .change_order = 120,
         .column = "act_ckpt",
         .help = "what the backward recomputes: none, selective, full, block:N (N layers of each "
                 "rank, or of each of its vpp chunks), or names of modules, joined by +",
         .value = FormatRecompute,
         .read = ParseRecompute}),
    layout_key::Word<&Layout::schedule>(
        {.name = "sched",
         .also = "schedule",
         .text = KeyText::kPrinted,
         .words = layout_key::kScheduleWords,
         .burden = Burden::kSchedule,
         .burden_of = [](const Layout& layout) { return IsPlain(layout.schedule) ? 0 : 1; },
         .change_order = 30,
         .column = "schedule",
         .help = "the order in which stages and chunks run the micro-batches",
         .value = [](const Layout& layout) { return std::string(ScheduleName(layout.schedule)); },
         .read = layout_key::ReadSchedule}),
    layout_key::Word<&Layout::attention>({.name = "attn",
                                          .words = layout_key::kAttentionWords,
                                          .absent = "the framework's",
                                          .change_order = 100,
                                          .column = "attn",
                                          .help = "the attention kernel; default: the framework's",
                                          .value =
                                              [](const Layout& layout) {
                                                return std::string(
                                                    AttentionKernelName(layout.attention));
                                              },
                                          .read = layout_key::ReadAttention}),
    layout_key::Word<&Layout::norm>(
        {.name = "norm",
         .words = layout_key::kNormWords,
         .absent = "the framework's",
         .change_order = 110,
         .column = "norm_kernel",
         .help = "the norm kernel; default: the framework's",
         .value = [](const Layout& layout) { return std::string(NormKernelName(layout.norm)); },
         .read = layout_key::ReadNorm}),
    layout_key::Count<&Layout::shard_ranks>(
        {.name = "hs",
         .separator = "=",
         .low = 2,
         .burden = Burden::kAxes,
         .change_order = 70,
         .column = "hs",
         .help = "HSDP: each group of hs ranks shards a copy; 0: one group of all dp * cp"}),
    layout_key::Text<&Layout::stages>(
        {.name = "stages",
         .accepts = "layers of each virtual stage such as 1+30x2+0",
         .absent = "the framework's",
         .burden = Burden::kAxes,
         .change_order = 80,
         .column = "stages",
         .column_in_words = false,
         .help = "layers of each stage or vpp chunk in order (4+4x6+4: one of 4 layers, four of 6, "
                 "one of 4); absent: the framework's own split",
         .value = [](const Layout& layout) { return FormatStageSplit(layout.stages); },
         .read = layout_key::ReadStages}),
    layout_key::Text<&Layout::offload>(
        {.name = "offload",
         .accepts = "act:N, opt or act:N+opt",
         .absent = "nothing",
         .burden = Burden::kAxes,
         .change_order = 90,
         .column = "offload",
         .column_in_words = false,
         .help = "what is moved to the hosts' memory: act:N, opt, act:N+opt; none: nothing",
         .value = [](const Layout& layout) { return FormatOffload(layout.offload); },
         .read = layout_key::ReadOffload}),
};
inline constexpr size_t kLayoutKeyCount = kLayoutKeys.size();

// Returns the key for which `name` is the name or the other name; nullptr if there is none.
constexpr const LayoutKey* FindKey(std::string_view name) {
  for (const LayoutKey& key : kLayoutKeys) {
    if (key.name == name || (!key.also.empty() && key.also == name)) return &key;
  }
  return nullptr;
}

constexpr size_t IndexOf(const LayoutKey& key) {
  return static_cast<size_t>(&key - kLayoutKeys.data());
}

bool HasDefault(const LayoutKey& key, const Layout& layout);
// Returns whether ShortLayout() writes the key.
bool IsInShortText(const LayoutKey& key, const Layout& layout);

// Returns the value that the text form has after the name: "4", "1f1b", "act:8". Returns an empty
// text for the default of a kernel, `stages` or `offload`, which the text form does not name.
std::string ValueText(const LayoutKey& key, const Layout& layout);
// Returns the key's value in the form of conditions, JSON axes and the store's columns. A count is
// a number. A word is one of `words`: "default" stands for the framework's kernel, "block" for any
// number of layers. The value of a text key is "none" if the key has its default.
std::string ConditionText(const LayoutKey& key, const Layout& layout);

// Sets the key from a text such as ValueText() returns. Returns InvalidArgument, which says what
// would be accepted, if the text is wrong.
absl::Status ReadValue(const LayoutKey& key, std::string_view value, Layout& layout);

// --- The axes: the keys whose product is the number of devices, in the order of Axis.

inline constexpr size_t kAxisCount = [] {
  size_t count = 0;
  for (const LayoutKey& key : kLayoutKeys) count += key.divides_devices ? 1 : 0;
  return count;
}();

inline constexpr std::array<LayoutKey, kAxisCount> kAxes = [] {
  std::array<LayoutKey, kAxisCount> axes;
  size_t count = 0;
  for (const LayoutKey& key : kLayoutKeys) {
    if (key.divides_devices) axes[count++] = key;
  }
  return axes;
}();

constexpr const LayoutKey& KeyOf(Axis axis) { return kAxes[static_cast<size_t>(axis)]; }

// Returns the product of the sizes of all axes for which includes(axis) is true.
template <typename Includes>
constexpr int64_t ProductOfAxes(const Layout& layout, const Includes& includes) {
  const auto product = [&]<size_t... kAxis>(std::index_sequence<kAxis...>) {
    return (int64_t{1} * ... *
            (includes(static_cast<Axis>(kAxis)) ? int64_t{layout.*kAxes[kAxis].count} : 1));
  };
  return product(std::make_index_sequence<kAxisCount>());
}

}  // namespace meshwright::planner
