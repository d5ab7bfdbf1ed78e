#include "tools/cli/common/flags.h"

#include <filesystem>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/message_text.h"
#include "base/text/status_macros.h"
#include "planner/catalog/catalog.h"
#include "planner/catalog/spec_kind.h"
#include "tools/cli/common/agent_clusters.h"
#include "tools/cli/io/input_error.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

// Returns the kind of spec that a flag takes: a model, a cluster or a framework's profile.
std::string_view SpecKindOf(std::string_view flag) { return flag == "base" ? "cluster" : flag; }

bool LooksLikeFile(const std::string& value) {
  std::error_code error;
  return std::filesystem::exists(value, error) || value.find('/') != std::string::npos ||
         value.ends_with(".json");
}

absl::Status OfOtherKind(std::string_view flag, const std::string& value, std::string_view kind) {
  const auto named = [](std::string_view of) {
    return of == "framework" ? std::string("a framework's profile") : "a " + std::string(of);
  };
  return FieldError(flag, value,
                    absl::StrCat("is ", named(kind), ", not ", named(SpecKindOf(flag)), "; --",
                                 std::string(kind), " takes it"));
}

// A folder stands for the model in it.
std::string PathOf(std::string_view kind, const std::string& value) {
  std::error_code error;
  const bool folder = kind == "model" && std::filesystem::is_directory(value, error);
  return folder ? (std::filesystem::path(value) / "config.json").string() : value;
}

// Whether the text is a spec of its kind. A server would refuse it too, but without the file's
// name.
absl::Status CheckSpecText(std::string_view kind, const std::string& text, int64_t seq_len) {
  constexpr int32_t kAnyCores = 1;
  if (kind == "model") return planner::ModelFromConfig("", text, seq_len).status();
  if (kind == "cluster") return planner::ClusterFromJson(text, kAnyCores).status();
  return planner::ProfileFromJson(text).status();
}

// The name config.json tells nothing; its folder is usually named after the model.
std::string StemOf(const std::filesystem::path& path) {
  std::string stem = path.stem().string();
  if (stem != "config") return stem;
  const std::string folder = std::filesystem::absolute(path).parent_path().filename().string();
  return folder.empty() ? stem : folder;
}

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

// A cluster that can't be resolved is refused later, with its reason.
bool IsOfProcessorCores(const planner::SpecSource& cluster) {
  constexpr int32_t kAnyCores = 1;
  const absl::StatusOr<planner::ClusterSpec> spec = planner::ResolveCluster(cluster, kAnyCores);
  return spec.ok() && spec->device_kind() == planner::DeviceKind::kCpu;
}

}  // namespace

absl::StatusOr<planner::SpecSource> ReadSpecSource(CommandFiles& files, std::string_view flag,
                                                   const std::string& value, int64_t seq_len) {
  const std::string_view kind = SpecKindOf(flag);
  if (value.empty()) return FieldError(flag, value, "must name a file or a preset");
  if (const std::string preset = planner::PresetNamed(kind, value); !preset.empty()) {
    return planner::SpecSource{preset, ""};
  }
  if (!LooksLikeFile(value)) {
    const std::string_view other = planner::KindOfPreset(value);
    if (!other.empty()) return OfOtherKind(flag, value, other);
    return planner::SpecSource{value, ""};
  }
  const std::string path = PathOf(kind, value);
  ASSIGN_OR_RETURN(std::string text, files.Read(flag, path, kMaxSpecBytes));
  if (text.empty()) return FieldError(flag, path, "is an empty file");
  const std::string_view other = planner::KindOfText(text);
  if (!other.empty() && other != kind) return OfOtherKind(flag, path, other);
  RETURN_IF_ERROR(InFile(flag, path, CheckSpecText(kind, text, seq_len)));
  return planner::SpecSource{EscapeControls(StemOf(path)), std::move(text)};
}

void AddPlot(CLI::App& app, std::string& path, const std::string& what) {
  app.add_option("--plot", path, what)->option_text("FILE.svg");
}

absl::StatusOr<OutputFile> ClaimPlot(CommandFiles& files, const std::string& path) {
  if (!path.empty() && !absl::AsciiStrToLower(path).ends_with(".svg")) {
    return FieldError("plot", path, "must end in .svg: that is what is drawn");
  }
  return files.Claim("plot", path);
}

void OutputFlags::AddFormat(CLI::App& app) {
  command_line::AddEnumOption<OutputFormat>(
      app, "--format", format, "How the answer is printed",
      {{"text", OutputFormat::kText}, {"json", OutputFormat::kJson}})
      ->group(command_line::kCommonFlags);
}

void OutputFlags::AddServer(CLI::App& app, const CommandContext& context) {
  server.Add(app, "Ask this server instead of computing here", context);
}

void QueryFlags::AddModel(CLI::App& app) {
  app.add_option("--model", model,
                 "HuggingFace config.json, the folder of one, or a preset (meshwright list models)")
      ->required()
      ->option_text("FILE|MODEL");
}

namespace {

void AddSequence(CLI::App& app, int64_t& seq_len) {
  app.add_option("--seq-len", seq_len, "Tokens per sequence")->required()->option_text("S");
}

}  // namespace

void QueryFlags::AddTraining(CLI::App& app) {
  AddSequence(app, seq_len);
  app.add_option("--global-batch", global_batch, "Sequences per optimizer step")
      ->required()
      ->option_text("B");
  AddArithmetic(app);
}

void QueryFlags::AddTrainingWithoutBatch(CLI::App& app) {
  AddSequence(app, seq_len);
  AddArithmetic(app);
}

void QueryFlags::AddArithmetic(CLI::App& app) {
  command_line::TakeWords(
      app.add_option("--dtype", dtype,
                     "Number format of the matrix products; default bf16, on processor cores "
                     "fp32"),
      {"bf16", "fp32", "fp64", "fp8-delayed", "fp8-current", "fp8-blockwise", "mxfp8", "nvfp4"});
  command_line::TakeWords(
      app.add_option("--optimizer", optimizer, "What updates the weights")->capture_default_str(),
      {"adamw", "muon"});
  app.add_option("--imbalance", imbalance,
                 "Tokens that the fullest rank's experts take, over those of an average rank")
      ->capture_default_str()
      ->option_text("R");
}

namespace {

void AddClusterName(CLI::App& app, std::string& cluster) {
  app.add_option(
         "--cluster", cluster,
         "Cluster file, a preset (meshwright list clusters), or what an agent of the server "
         "measured (meshwright list agents)")
      ->required()
      ->option_text("FILE|CLUSTER|agent:NAME");
}

}  // namespace

void QueryFlags::AddClusterOfSizes(CLI::App& app) {
  AddClusterName(app, cluster);
  app.add_option("--gpus", sizes, "Devices to use; A..B looks at A, 2A, 4A and so on up to B")
      ->required()
      ->option_text("N|A..B")
      // Checked here, so that the message names the flag as typed.
      ->check([](const std::string& value) {
        const absl::Status status = planner::ParseDeviceRange(value).status();
        return std::string(absl::StripPrefix(status.message(), "gpus = "));
      });
}

void QueryFlags::AddCluster(CLI::App& app) {
  AddClusterName(app, cluster);
  app.add_option("--gpus", devices, "Devices to use")->required()->option_text("N");
}

void QueryFlags::AddFramework(CLI::App& app) {
  app.add_option("--framework", framework,
                 "Framework profile, file or preset (meshwright list profiles)")
      ->capture_default_str()
      ->option_text("FILE|PROFILE");
}

absl::StatusOr<planner::PlanQuery> QueryFlags::ToQuery(CommandFiles& files,
                                                       const ServerFlags& server) const {
  planner::PlanQuery query;
  ASSIGN_OR_RETURN(query.model, ReadSpecSource(files, "model", model, seq_len));
  ASSIGN_OR_RETURN(query.cluster, ReadClusterSource(files, cluster, server));
  ASSIGN_OR_RETURN(query.framework, ReadSpecSource(files, "framework", framework));
  query.devices = devices;
  query.training = {.seq_len = seq_len, .global_batch = global_batch, .expert_load = imbalance};
  ASSIGN_OR_RETURN(query.training.optimizer, planner::ParseOptimizer(optimizer));
  if (!dtype.empty()) {
    ASSIGN_OR_RETURN(query.training.precision, planner::ParsePrecision(dtype));
  } else if (IsOfProcessorCores(query.cluster)) {
    query.training.precision = planner::Precision::kFp32;
  }
  return query;
}

}  // namespace meshwright::cli
