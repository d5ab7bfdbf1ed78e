#include "tools/cli/common/flags.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "tools/cli/common/agent_clusters.h"
#include "tools/cli/common/fingerprint_warning.h"
#include "tools/cli/common/model_source.h"
#include "tools/cli/common/spec_source.h"
#include "tools/command_line/counts.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

absl::StatusOr<planner::SpecSource> ReadClusterSource(CommandFiles& files,
                                                      const std::string& cluster,
                                                      const ServerFlags& server) {
  if (!NamesAgent(cluster)) return ReadSpecSource(files, "cluster", cluster);
  if (server.empty()) {
    return FieldError("cluster", cluster,
                      "what an agent measured is known to its server: name that with --server "
                      "HOST:PORT, where the command has it");
  }
  ASSIGN_OR_RETURN(const std::vector<v1::Agent> agents, ListAgents(server));
  return ClusterOfAgent(agents, cluster);
}

// Compares the machine of a measured cluster with those of the server's agents. A server that can't
// be asked now fails the request itself later.
void CompareWithAgents(const planner::SpecSource& cluster, const ServerFlags& server,
                       std::ostream& err) {
  constexpr int32_t kAnyCores = 1;
  if (server.empty() || cluster.json.empty() || NamesAgent(cluster.name)) return;
  const absl::StatusOr<planner::ClusterSpec> spec = planner::ResolveCluster(cluster, kAnyCores);
  if (!spec.ok() || spec->fingerprint == planner::Fingerprint()) return;
  const absl::StatusOr<std::vector<v1::Agent>> agents = ListAgents(server);
  if (agents.ok()) WarnOfOtherMachines(*spec, *agents, err);
}

// A cluster that can't be resolved is refused later, with its reason.
planner::Precision DefaultPrecisionOf(const planner::SpecSource& cluster) {
  constexpr int32_t kAnyCores = 1;
  const absl::StatusOr<planner::ClusterSpec> spec = planner::ResolveCluster(cluster, kAnyCores);
  return spec.ok() ? planner::DefaultPrecision(*spec) : planner::Precision::kBf16;
}

}  // namespace

void OutputFlags::AddFormat(CLI::App& app) {
  command_line::AddEnumOption<OutputFormat>(
      app, "--format", format, "How the answer is printed",
      {{"text", OutputFormat::kText}, {"json", OutputFormat::kJson}})
      ->group(command_line::kCommonFlags);
}

void OutputFlags::AddStyle(CLI::App& app) {
  app.add_flag("--details", style.details, "Print everything that is known, beside the answer")
      ->group(command_line::kCommonFlags);
  AddLong(app);
}

void OutputFlags::AddLong(CLI::App& app) {
  app.add_flag("--long", style.whole_layouts,
               "Print layouts with all keys, also those that have their defaults")
      ->group(command_line::kCommonFlags);
}

void OutputFlags::AddServer(CLI::App& app, const CommandContext& context) {
  server.Add(app, "Ask this server instead of computing here", context);
}

void QueryFlags::AddModel(CLI::App& app) {
  app.add_option(
         "--model", model,
         "HuggingFace config.json or the folder of one, a Hub id that is in the local cache, - "
         "for standard input, or a preset (meshwright list models)")
      ->required()
      ->option_text("FILE|MODEL");
}

namespace {

void AddSequence(CLI::App& app, int64_t& seq_len) {
  command_line::TakeCount(app.add_option("--seq-len", seq_len, "Tokens per sequence; 8k is 8,192"))
      ->required()
      ->option_text("S");
}

}  // namespace

void QueryFlags::AddTraining(CLI::App& app) {
  AddSequence(app, seq_len);
  needs_batch = true;
  CLI::Option* sequences = command_line::TakeCount(app.add_option("--global-batch", global_batch,
                                                                  "Sequences per optimizer step"))
                               ->option_text("B");
  command_line::TakeCount(app.add_option("--global-batch-tokens", global_batch_tokens,
                                         "Tokens per optimizer step, in place of --global-batch; "
                                         "4M is 4,194,304"))
      ->option_text("T")
      ->excludes(sequences);
  AddArithmetic(app);
}

void QueryFlags::AddTrainingWithoutBatch(CLI::App& app) {
  AddSequence(app, seq_len);
  AddArithmetic(app);
}

void AddOptimizer(CLI::App& app, std::string& optimizer) {
  std::vector<std::string> names;
  for (const planner::Optimizer& known : planner::kOptimizers) names.emplace_back(known.name);
  command_line::TakeWords(
      app.add_option("--optimizer", optimizer, "What updates the weights")->capture_default_str(),
      names);
}

void QueryFlags::AddArithmetic(CLI::App& app) {
  command_line::TakeWords(
      app.add_option("--dtype", dtype,
                     "Number format of the matrix products; default bf16, fp16 on devices "
                     "without bf16, on processor cores fp32"),
      {"bf16", "fp16", "fp32", "fp64", "fp8-delayed", "fp8-current", "fp8-blockwise", "mxfp8",
       "nvfp4"});
  AddOptimizer(app, optimizer);
  app.add_option("--imbalance", imbalance,
                 "Tokens of the fullest rank's experts, divided by the mean over ranks")
      ->capture_default_str()
      ->option_text("R");
  app.add_option("--media-tokens", media_tokens,
                 "Tokens of a sequence that stand for images, for a model with a tower; default: "
                 "the tokens of one image if the model's file states their number, otherwise 0")
      ->option_text("N");
  for (size_t i = 0; i < planner::kRunOptions.size(); ++i) {
    const planner::RunOption& option = planner::kRunOptions[i];
    const std::string flag = absl::StrReplaceAll(AbslView(option.name), {{"_", "-"}});
    app.add_option("--" + flag, options[i], std::string(option.help))
        ->option_text(std::string(option.values));
  }
}

namespace {

void AddClusterName(CLI::App& app, std::string& cluster) {
  app.add_option(
         "--cluster", cluster,
         "Cluster file, a preset (meshwright list clusters), a preset's devices and network in "
         "words such as h100:8x4,ib=200Gb (4 nodes of 8; docs/clusters.md), or what an agent of "
         "the server measured (meshwright list agents)")
      ->required()
      ->option_text("FILE|CLUSTER|agent:NAME");
}

// Returns the sequences of an optimizer step.
absl::StatusOr<int64_t> BatchOf(int64_t sequences, int64_t tokens, int64_t seq_len) {
  if (sequences == 0 && tokens == 0) {
    return FieldError("global_batch", "(absent)",
                      "must say how many sequences an optimizer step takes, or "
                      "--global-batch-tokens how many tokens");
  }
  if (tokens == 0) return sequences;
  if (tokens > 0 && seq_len > 0 && tokens % seq_len == 0) return tokens / seq_len;
  return FieldError("global_batch_tokens", tokens,
                    absl::StrCat("must be a multiple of --seq-len ", seq_len));
}

}  // namespace

void QueryFlags::AddClusterOfSizes(CLI::App& app) {
  AddClusterName(app, cluster);
  app.add_option("--gpus", sizes,
                 "Devices to use; A..B looks at A, 2A, 4A and so on up to B; default: all of a "
                 "cluster that says how many nodes it has")
      ->option_text("N|A..B")
      // Checked here, so that the message names the flag as typed.
      ->check([](const std::string& value) {
        const absl::Status status = planner::ParseDeviceRange(value).status();
        return std::string(absl::StripPrefix(status.message(), "gpus = "));
      });
}

void QueryFlags::AddCluster(CLI::App& app) {
  AddClusterName(app, cluster);
  needs_devices = true;
  app.add_option("--gpus", devices,
                 "Devices to use; default: all of a cluster that says how many nodes it has")
      ->option_text("N");
}

void QueryFlags::AddFramework(CLI::App& app) {
  app.add_option("--framework", framework,
                 "Framework profile, file or preset (meshwright list profiles)")
      ->capture_default_str()
      ->option_text("FILE|PROFILE");
}

void QueryFlags::AddMeasured(CLI::App& app) { measured.Add(app); }

absl::StatusOr<planner::DeviceRange> QueryFlags::Range(const planner::PlanQuery& query) const {
  if (!sizes.empty()) return planner::ParseDeviceRange(sizes);
  ASSIGN_OR_RETURN(const int64_t all, planner::DevicesOf(query.cluster));
  return planner::DeviceRange{all, all};
}

absl::StatusOr<planner::PlanQuery> QueryFlags::ToQuery(CommandContext& context,
                                                       const ServerFlags& server) const {
  CommandFiles& files = context.files;
  planner::PlanQuery query;
  ASSIGN_OR_RETURN(query.model, ReadModelSource(context, model, seq_len));
  ASSIGN_OR_RETURN(query.cluster, ReadClusterSource(files, cluster, server));
  CompareWithAgents(query.cluster, server, context.err);
  ASSIGN_OR_RETURN(query.framework, ReadSpecSource(files, "framework", framework));
  query.devices = devices;
  if (devices == 0 && needs_devices) {
    ASSIGN_OR_RETURN(query.devices, planner::DevicesOf(query.cluster));
  }
  query.training = {.seq_len = seq_len, .expert_load = imbalance};
  if (needs_batch && seq_len > 0) {  // an absent sequence length is refused first
    ASSIGN_OR_RETURN(query.training.global_batch,
                     BatchOf(global_batch, global_batch_tokens, seq_len));
  }
  query.media_tokens = media_tokens;
  if (!query.model.train.empty()) {
    ASSIGN_OR_RETURN(query.training.options.train, planner::ParseTrainedParts(query.model.train));
  }
  for (size_t i = 0; i < planner::kRunOptions.size(); ++i) {
    if (options[i].empty()) continue;
    RETURN_IF_ERROR(planner::kRunOptions[i].read(options[i], query.training.options));
  }
  ASSIGN_OR_RETURN(query.training.optimizer, planner::ParseOptimizer(optimizer));
  if (!dtype.empty()) {
    ASSIGN_OR_RETURN(query.training.precision, planner::ParsePrecision(dtype));
  } else {
    query.training.precision = DefaultPrecisionOf(query.cluster);
  }
  ASSIGN_OR_RETURN(query.measured, measured.ToTexts(query, server, context));
  return query;
}

}  // namespace meshwright::cli
