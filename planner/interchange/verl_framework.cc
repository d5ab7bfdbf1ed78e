// verl's Hydra overrides of the policy that its PPO trainer updates, with keys as in
// verl/trainer/config/{ppo_trainer,actor/*,engine/*,optim/*,model/hf_model}.yaml of release 0.9.
//
// Layouts that divide gradients or weights are of its FSDP2 engine, others of its Megatron engine.
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/interchange/framework.h"
#include "planner/interchange/megatron_arithmetic.h"
#include "planner/interchange/verl_names.h"

namespace meshwright::planner {
namespace {

constexpr std::string_view kFsdpProfile = "verl";

bool IsOfFsdp(const Layout& layout) { return layout.zero >= 2; }

std::string_view VerlProfileOf(const Layout& layout) {
  return IsOfFsdp(layout) ? kFsdpProfile : "megatron-bridge";
}

absl::Status CheckFsdpEngine(const ExportJob& job) {
  const Layout& l = job.layout;
  const auto refuse = [&](std::string_view key, int64_t value) {
    return CannotExport(absl::StrCat(std::string(key), value),
                        absl::StrCat("verl's FSDP engine, which zero", l.zero,
                                     " needs, divides data and sequences alone; must be ",
                                     std::string(key), "1, or zero1 for its Megatron engine"));
  };
  if (l.tp > 1) return refuse("tp", l.tp);
  if (l.pp > 1) return refuse("pp", l.pp);
  if (l.ep > 1) return refuse("ep", l.ep);
  if (l.etp > 1) return refuse("etp", l.etp);
  if (l.offload.any() && (!l.offload.gradients || l.offload.activation_layers > 0)) {
    return CannotExport(
        "offload=" + FormatOffload(l.offload),
        "FSDP2's offload_policy also offloads weights and gradients; must be opt+param+grad");
  }
  if (!(job.training.options.states == StateFormats())) {
    return FieldError("states", "(formats)",
                      "verl's FSDP engine keeps them in fp32; must be left out");
  }
  return absl::OkStatus();
}

absl::Status PrepareFsdpEngine(const ExportJob& job, Settings& settings) {
  RETURN_IF_ERROR(CheckFsdpEngine(job));
  settings.Set("engine", "fsdp2");
  settings.Remove("offloads_optimizer");
  settings.Remove("num_experts");
  settings.Set("of_fsdp", 1);
  const std::string targets = settings.TextOf("adapter_targets", "all-linear");
  if (targets != "all-linear") {
    settings.Set("adapter_targets",
                 absl::StrCat("[", absl::StrReplaceAll(targets, {{" ", ","}}), "]"));
  }
  settings.Set("offload_all", job.layout.offload.any() ? 1 : 0);
  settings.Remove("offload");
  return absl::OkStatus();
}

absl::Status PrepareMegatronEngine(const ExportJob& job, Settings& settings) {
  const Layout& l = job.layout;
  RETURN_IF_ERROR(PrepareMegatron(job, settings));
  if (job.training.options.train.adapter.exists()) {
    return FieldError(
        "train", TrainedPartsText(job.training.options.train),
        "is exported for verl's FSDP engine alone; must be full, or zero2 or zero3 in "
        "the layout");
  }
  settings.Set("engine", "megatron");
  settings.Set("of_megatron", 1);
  RETURN_IF_ERROR(CheckFlashRelease(l));
  if (l.norm == NormKernel::kEager) {
    return CannotExport("norm=eager", "Transformer Engine's norm is fused; must be left out");
  }
  if (l.offload.activation_layers > 0) {
    return CannotExport("offload=" + FormatOffload(l.offload),
                        "verl's Megatron engine offloads only the optimizer's states; must be opt");
  }
  if (settings.Find("hybrid_pattern") != nullptr) {
    return CannotExport(FormatLayout(l),
                        "verl reads the layers of a hybrid from its file; hybrids are not "
                        "exported");
  }
  if (l.zero == 0 && l.offload.optimizer) settings.Set("zero", 1);
  if (l.zero >= 1) settings.Set("gathers", 1);
  if (settings.Find("state_grad") != nullptr) settings.Set("moment_formats", 1);
  if (const std::string* modules = settings.Find("recompute_modules")) {
    settings.Set("recompute_modules",
                 absl::StrCat("[", absl::StrReplaceAll(*modules, {{" ", ","}}), "]"));
  }
  return absl::OkStatus();
}

absl::Status PrepareVerl(const ExportJob& job, Settings& settings) {
  const NodePlacement placed = PlacementOf(job);
  if (!placed.fills_last()) {
    return FieldError(
        "gpus_per_node", job.devices_per_node,
        absl::StrCat("verl takes the same number of devices on every node; must divide the ",
                     job.layout.devices(), " of the layout"));
  }
  settings.Set("prompt_tokens", job.training.seq_len / 2);
  settings.Set("answer_tokens", job.training.seq_len - job.training.seq_len / 2);
  return IsOfFsdp(job.layout) ? PrepareFsdpEngine(job, settings)
                              : PrepareMegatronEngine(job, settings);
}

// The defaults of the Megatron engine differ from those of FSDP.
absl::Status ResolveMegatronEngine(Settings& settings) {
  settings.Remove("rc");  // enable_gradient_checkpointing is of the FSDP engine
  if (settings.Find("zero") == nullptr) settings.Set("zero", 1);
  const bool divides_products = settings.CountOf("tp").value_or(1) > 1;
  if (settings.Find("sp") == nullptr || !divides_products) {
    settings.Set("sp", divides_products ? 1 : 0);
  }
  if (settings.TextOf("etp", "-") == "-") settings.Remove("etp");
  if (settings.TextOf("vpp", "1") == "1") settings.Remove("vpp");
  if (const std::string* modules = settings.Find("recompute_modules")) {
    settings.Set("recompute_modules",
                 absl::StrReplaceAll(*modules, {{"[", ""}, {"]", ""}, {", ", " "}, {",", " "}}));
  }
  return ResolveMegatron(settings);
}

absl::Status ResolveVerl(Settings& settings) {
  const auto prompt = settings.CountOf("prompt_tokens");
  const auto answer = settings.CountOf("answer_tokens");
  if (settings.Find("seq_len") == nullptr && prompt && answer) {
    settings.Set("seq_len", *prompt + *answer);
  }
  const auto batch = settings.CountOf("global_batch");
  if (const auto samples = settings.CountOf("samples"); batch && samples) {
    if (*batch > kMostCounted / *samples) {
      return FieldError("samples", *samples,
                        absl::StrCat("makes more than ", kMostCounted, " sequences"));
    }
    settings.Set("global_batch", *batch * *samples);
  }
  if (settings.TextOf("engine", "fsdp2") == "megatron") return ResolveMegatronEngine(settings);
  if (settings.CountOf("adapter_rank")) settings.Set("uses_adapter", 1);
  if (settings.Find("zero") == nullptr) settings.Set("zero", 3);
  if (settings.Find("rc") == nullptr) settings.Set("rc", "full");
  return absl::OkStatus();
}

absl::StatusOr<ExportedJob> ExportVerl(const ExportJob& job, const Settings& settings) {
  ASSIGN_OR_RETURN(const std::vector<Spelling> spellings, SpellAll(VerlNames(), settings));
  ExportedJob exported;
  exported.launcher = RankLauncher::kRay;
  exported.program = {"python3", "-m", "verl.trainer.main_ppo"};
  exported.comments = {
      absl::StrCat(job.model.name, " as ", FormatLayout(job.layout)),
      absl::StrCat("on ", job.layout.devices(),
                   " devices with verl: the update of the policy. Model, data, rollout, rewards "
                   "and learning rate"),
      "are yours: pass their overrides to this script. Where rollout.n is above 1, divide",
      "ppo_mini_batch_size by it. A prompt and its answer have half of the tokens each."};
  exported.comments.insert(exported.comments.end(), job.notes.begin(), job.notes.end());
  for (const Spelling& spelling : spellings) {
    std::string value = spelling.value;
    if (value.find_first_of("|()*") != std::string::npos) value = absl::StrCat("'", value, "'");
    exported.argument_lines.push_back({absl::StrCat(std::string(spelling.row->name), "=", value)});
  }
  return exported;
}

}  // namespace

const Framework& VerlFramework() {
  static const Framework framework = {.name = "verl",
                                      .release = "0.9",
                                      .profile = "megatron-bridge",
                                      .further_profiles = "verl",
                                      .profile_of = VerlProfileOf,
                                      .lacks = "verl has no override for",
                                      .tables = {VerlNames(), LauncherNames(), NameTable()},
                                      .implied = "dp sched",
                                      .defaults = "dtype=bf16 nodes=1 gpus_per_node=8",
                                      .loads_models = true,
                                      .precisions = {Precision::kBf16, Precision::kFp16},
                                      .prepare = PrepareVerl,
                                      .write = ExportVerl,
                                      .resolve = ResolveVerl};
  return framework;
}

}  // namespace meshwright::planner
