#include "planner/interchange/export_megatron.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text/status_macros.h"
#include "planner/interchange/megatron_arithmetic.h"
#include "planner/interchange/megatron_hybrid.h"
#include "planner/interchange/megatron_model.h"
#include "planner/interchange/name_table.h"

namespace meshwright::planner {
namespace {

absl::Status AddFlags(NameTable table, const Settings& settings, ExportedJob& exported) {
  ASSIGN_OR_RETURN(const std::vector<Spelling> spellings, SpellAll(table, settings));
  for (std::vector<std::string>& line : FlagLines(table, spellings)) {
    exported.argument_lines.push_back(std::move(line));
  }
  return absl::OkStatus();
}

// Returns the words of a line of flags, of which one in single quotes may hold blanks.
std::vector<std::string> WordsOf(const std::string& line) {
  std::vector<std::string> words;
  bool in_quotes = false;
  for (const absl::string_view part : absl::StrSplit(line, '\'')) {
    if (in_quotes) {
      words.emplace_back(part);
    } else {
      for (const absl::string_view word : absl::StrSplit(part, ' ', absl::SkipEmpty())) {
        words.emplace_back(word);
      }
    }
    in_quotes = !in_quotes;
  }
  return words;
}

// Says where a kernel of the layout is not what the flags choose.
void AddKernelComments(const Layout& layout, std::vector<std::string>& comments) {
  if (NamesFlashRelease(layout)) {
    std::string name(AttentionKernelName(layout.attention));
    comments.push_back("attn=" + name +
                       ": Transformer Engine takes the newest flash-attn it finds "
                       "installed; no flag names a version.");
  }
  if (layout.norm == NormKernel::kEager) {
    comments.push_back(
        "norm=eager: Transformer Engine's norm is fused, so this run is faster and smaller than "
        "estimated.");
  }
}

// Tensor and context parallel need their collectives in launch order; FSDP needs them unordered.
std::vector<EnvironmentVariable> ConnectionsOf(const Layout& layout) {
  constexpr char kName[] = "CUDA_DEVICE_MAX_CONNECTIONS";
  if (layout.zero >= 2) return {{kName, std::nullopt}};
  if (layout.tp > 1 || layout.cp > 1) return {{kName, "1"}};
  return {};
}

}  // namespace

absl::StatusOr<ExportedJob> ExportMegatron(const ExportJob& job, const Settings& settings) {
  ExportedJob exported;
  RETURN_IF_ERROR(AddFlags(MegatronLayoutFlags(), settings, exported));
  MegatronScript model;
  RETURN_IF_ERROR(AddModel(job.model, job.training.seq_len, model));
  for (const std::string& line : model.flags) exported.argument_lines.push_back(WordsOf(line));
  RETURN_IF_ERROR(AddFlags(MegatronFurtherFlags(), settings, exported));
  exported.program = {IsHybrid(job.model) ? "pretrain_hybrid.py" : "pretrain_gpt.py"};
  exported.environment = ConnectionsOf(job.layout);
  std::vector<std::string>& comments = exported.comments;
  comments = {
      absl::StrCat(job.model.name, " as ", FormatLayout(job.layout)),
      absl::StrCat("on ", job.layout.devices(),
                   " devices with Megatron-LM. Data, tokenizer, learning rate and checkpoints are "
                   "yours: pass their"),
      "flags to this script."};
  comments.insert(comments.end(), job.notes.begin(), job.notes.end());
  comments.insert(comments.end(), model.comments.begin(), model.comments.end());
  AddKernelComments(job.layout, comments);
  return exported;
}

}  // namespace meshwright::planner
