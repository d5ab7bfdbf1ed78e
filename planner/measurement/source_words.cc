#include "planner/measurement/source_words.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text/string_view.h"

namespace meshwright::planner {
namespace {

template <typename Value, size_t kCount>
std::optional<Value> Find(const std::array<std::pair<std::string_view, Value>, kCount>& table,
                          std::string_view word) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const auto& entry) { return entry.first == word; });
  if (found == table.end()) return std::nullopt;
  return found->second;
}

using Schedule = std::pair<std::string_view, ScheduleKind>;
constexpr std::array kSchedules = {
    Schedule{"1f1b", ScheduleKind::k1f1b},
    Schedule{"1f1b non interleaved", ScheduleKind::k1f1b},
    Schedule{"non interleaved 1f1b", ScheduleKind::k1f1b},
    Schedule{"pipedream flush", ScheduleKind::k1f1b},
    Schedule{"dapple", ScheduleKind::k1f1b},
    Schedule{"none", ScheduleKind::k1f1b},
    Schedule{"no pipeline", ScheduleKind::k1f1b},
    Schedule{"ddp", ScheduleKind::k1f1b},
    Schedule{"1f1b interleaved", ScheduleKind::kInterleaved},
    Schedule{"interleaved 1f1b", ScheduleKind::kInterleaved},
    Schedule{"interleaved1f1b", ScheduleKind::kInterleaved},
    Schedule{"interleaved", ScheduleKind::kInterleaved},
    Schedule{"gpipe", ScheduleKind::kGpipe},
    Schedule{"afab", ScheduleKind::kGpipe},
    Schedule{"all forward all backward", ScheduleKind::kGpipe},
    Schedule{"breadth first", ScheduleKind::kBreadthFirst},
    Schedule{"bfs", ScheduleKind::kBreadthFirst},
    Schedule{"looped bfs", ScheduleKind::kBreadthFirst},
    Schedule{"zb 1p", ScheduleKind::kZbH1},
    Schedule{"zb h1", ScheduleKind::kZbH1},
    Schedule{"zbh1", ScheduleKind::kZbH1},
    Schedule{"zero bubble h1", ScheduleKind::kZbH1},
    Schedule{"zb v", ScheduleKind::kZbV},
    Schedule{"zbv", ScheduleKind::kZbV},
    Schedule{"v zb", ScheduleKind::kZbV},
    Schedule{"zbvzerobubble", ScheduleKind::kZbV},
    Schedule{"zb 2p", ScheduleKind::kZbH2},
    Schedule{"zb h2", ScheduleKind::kZbH2},
    Schedule{"zbh2", ScheduleKind::kZbH2},
    Schedule{"zero bubble h2", ScheduleKind::kZbH2},
    Schedule{"v half", ScheduleKind::kVHalf},
    Schedule{"vhalf", ScheduleKind::kVHalf},
    Schedule{"1f1b vocab 1", ScheduleKind::k1f1bVocab1},
    Schedule{"1f1b vocab1", ScheduleKind::k1f1bVocab1},
    Schedule{"1f1b vocab 2", ScheduleKind::k1f1bVocab2},
    Schedule{"1f1b vocab2", ScheduleKind::k1f1bVocab2},
    Schedule{"1f1b interlaced", ScheduleKind::k1f1bInterlaced},
    Schedule{"v half vocab 1", ScheduleKind::kVHalfVocab1},
    Schedule{"v half vocab1", ScheduleKind::kVHalfVocab1},
};

// The end of the names of schedules whose stages have equal costs.
constexpr std::string_view kEvenedStages = " redis";

// Parts of the names of schedules that are known and not modelled.
using Known = std::pair<std::string_view, std::string_view>;
constexpr std::array kKnownSchedules = {
    Known{"v min", "a V-shaped schedule with a third of the activations of 1f1b"},
    Known{"vmin", "a V-shaped schedule with a third of the activations of 1f1b"},
    Known{"dualpipe", "a schedule that feeds the pipeline from both ends"},
    Known{"dual pipe", "a schedule that feeds the pipeline from both ends"},
    Known{"chimera", "a schedule that feeds the pipeline from both ends"},
    Known{"hanayo", "a schedule of waves through the pipeline"},
};

using Attention = std::pair<std::string_view, AttentionKernel>;
constexpr std::array kAttention = {
    Attention{"fa3", AttentionKernel::kFlash3},
    Attention{"fa2", AttentionKernel::kFlash2},
    Attention{"core", AttentionKernel::kFusedSoftmax},
    Attention{"core attention", AttentionKernel::kFusedSoftmax},
    Attention{"softmax", AttentionKernel::kFusedSoftmax},
    Attention{"masked softmax fusion", AttentionKernel::kFusedSoftmax},
    Attention{"math", AttentionKernel::kEager},
    Attention{"naive", AttentionKernel::kEager},
    Attention{"torch", AttentionKernel::kEager},
    Attention{"", AttentionKernel::kDefault},
    Attention{"auto", AttentionKernel::kDefault},
    Attention{"fused", AttentionKernel::kDefault},
    Attention{"te", AttentionKernel::kDefault},
    Attention{"te fused", AttentionKernel::kDefault},
    Attention{"sdpa", AttentionKernel::kDefault},
    Attention{"xformers", AttentionKernel::kDefault},
    Attention{"memory efficient", AttentionKernel::kDefault},
};

using Norm = std::pair<std::string_view, NormKernel>;
constexpr std::array kNorms = {
    Norm{"", NormKernel::kDefault},    Norm{"fused", NormKernel::kFused},
    Norm{"te", NormKernel::kFused},    Norm{"apex", NormKernel::kFused},
    Norm{"eager", NormKernel::kEager}, Norm{"unfused", NormKernel::kEager},
    Norm{"torch", NormKernel::kEager},
};

using Checkpointing = std::pair<std::string_view, Recompute>;
constexpr std::array kRecompute = {
    Checkpointing{"", Recompute::kNone},
    Checkpointing{"none", Recompute::kNone},
    Checkpointing{"no", Recompute::kNone},
    Checkpointing{"off", Recompute::kNone},
    Checkpointing{"false", Recompute::kNone},
    Checkpointing{"0", Recompute::kNone},
    Checkpointing{"selective", Recompute::kSelective},
    Checkpointing{"core attention", Recompute::kSelective},
    Checkpointing{"full", Recompute::kFull},
    Checkpointing{"full uniform", Recompute::kFull},
    Checkpointing{"every layer", Recompute::kFull},
    Checkpointing{"yes", Recompute::kFull},
    Checkpointing{"true", Recompute::kFull},
    Checkpointing{"on", Recompute::kFull},
    Checkpointing{"1", Recompute::kFull},
};

struct NotedWords {
  std::string_view option;
  std::string_view words;
  std::string_view value;
  std::string_view beside = {};  // words that the notes must have too; empty: none
};
// The performance recipes of NeMo adapt linear_qkv alone. Their tables say no rank, which hardly
// changes a step.
constexpr std::string_view kNemoAdapters = "lora:16:q_proj,k_proj,v_proj";
constexpr std::array kNotedWords = {
    // No copy of the weights in fp32: HALO's engine.
    NotedWords{"states", "pure bf16 adamw", "bf16"},
    // Megatron-LM's DeepSeek-V3: --use-precision-aware-optimizer, --exp-avg-dtype bf16 and
    // --exp-avg-sq-dtype bf16.
    NotedWords{"states", "bf16 optimizer states", "precision-aware"},
    NotedWords{"experts", "experts replicated", "replicated"},
    NotedWords{"compile", "torch.compile=no", "off"},
    NotedWords{"compile", "torch.compile=yes", "on"},
    // Megatron-LM's test cases: "..._dist_muon".
    NotedWords{"optimizer", "muon", "muon"},
    NotedWords{"train", "lora finetuning", kNemoAdapters, "nemo"},
    NotedWords{"train", "lora finetuning", kNemoAdapters, "dgxc benchmarking"},
    NotedWords{"train", "lora performance", kNemoAdapters, "nemo"},
};

// Returns whether whole words of a remark are `words`, in PlainWords(). No words are in all notes.
bool HaveRemark(std::string_view notes, std::string_view words) {
  if (words.empty()) return true;
  for (const absl::string_view remark : absl::StrSplit(AbslView(notes), ';')) {
    const std::string padded = absl::StrCat(" ", PlainWords(StdView(remark)), " ");
    if (Contains(padded, absl::StrCat(" ", AbslView(words), " "))) return true;
  }
  return false;
}

}  // namespace

std::string PlainWords(std::string_view text) {
  std::string plain;
  int parentheses = 0;
  for (const char c : text) {
    if (c == '(') ++parentheses;
    if (parentheses == 0) {
      const bool gap = c == '-' || c == '_' || c == '/' || absl::ascii_isspace(c);
      if (!gap) plain += absl::ascii_tolower(c);
      if (gap && !plain.empty() && plain.back() != ' ') plain += ' ';
    }
    if (c == ')' && parentheses > 0) --parentheses;
  }
  if (!plain.empty() && plain.back() == ' ') plain.pop_back();
  return plain;
}

bool NamesFsdp(std::string_view schedule) {
  return PlainWords(schedule).starts_with("fsdp") || NamesHsdp(schedule);
}
bool NamesHsdp(std::string_view schedule) { return PlainWords(schedule).starts_with("hsdp"); }

ScheduleMeaning MeaningOfSchedule(std::string_view text) {
  std::string parts(text);
  std::replace(parts.begin(), parts.end(), '+', ' ');  // "1f1b+vocab-1"
  const std::string words = PlainWords(parts);
  for (const auto& [part, known_as] : kKnownSchedules) {
    if (Contains(words, part)) return {.kind = std::nullopt, .known_as = known_as};
  }
  if (NamesFsdp(text)) return {.kind = ScheduleKind::k1f1b};
  const bool evens = words.ends_with(kEvenedStages);
  const std::string_view plain =
      evens ? std::string_view(words).substr(0, words.size() - kEvenedStages.size()) : words;
  return {.kind = Find(kSchedules, plain), .evens_stages = evens};
}

std::optional<AttentionKernel> MeaningOfAttention(std::string_view text) {
  std::string words = PlainWords(text);
  if (const auto found = Find(kAttention, words)) return found;
  if (words.starts_with("unfused")) return AttentionKernel::kFusedSoftmax;
  if (Contains(words, "flash") || Contains(words, "cudnn")) {
    std::replace(words.begin(), words.end(), ' ', '_');
    return ParseAttentionKernel(words).value_or(AttentionKernel::kDefault);
  }
  std::replace(words.begin(), words.end(), ' ', '_');
  const auto exact = ParseAttentionKernel(words);
  return exact.ok() ? std::optional(*exact) : std::nullopt;
}

std::optional<NormKernel> MeaningOfNorm(std::string_view text) {
  return Find(kNorms, PlainWords(text));
}

bool RecomputesEveryNthBlock(std::string_view notes) {
  return Contains(PlainWords(notes), "every n th block");
}

std::optional<Recompute> MeaningOfRecompute(std::string_view text) {
  return Find(kRecompute, PlainWords(text));
}

std::optional<bool> MeaningOfSwitch(std::string_view text) {
  const std::string words = PlainWords(text);
  if (words == "1" || words == "true" || words == "yes" || words == "on") return true;
  if (words.empty() || words == "0" || words == "false" || words == "no" || words == "off") {
    return false;
  }
  return std::nullopt;
}

std::string_view NotedOption(std::string_view option, std::string_view notes) {
  for (const auto& [name, words, value, beside] : kNotedWords) {
    if (name == option && HaveRemark(notes, words) && HaveRemark(notes, beside)) return value;
  }
  return {};
}

std::optional<PeakRank> MeaningOfPeakRank(std::string_view notes) {
  const std::vector<std::string> remarks =
      absl::StrSplit(absl::AsciiStrToLower({notes.data(), notes.size()}), ';');
  for (const std::string& words : remarks) {
    if (!Contains(words, "memory") && !Contains(words, "peak_mem")) continue;
    if (Contains(words, "last rank")) return PeakRank::kLast;
    if (Contains(words, "rank 0") || Contains(words, "first rank")) return PeakRank::kFirst;
    if (Contains(words, "max over ranks")) return PeakRank::kFullest;
  }
  return std::nullopt;
}

}  // namespace meshwright::planner
