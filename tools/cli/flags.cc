#include "tools/cli/flags.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "planner/catalog/catalog.h"
#include "planner/catalog/json_text.h"
#include "planner/spec/field_error.h"
#include "planner/spec/status_macros.h"
#include "tools/cli/agent_clusters.h"
#include "tools/command_line/declare.h"

namespace meshwright {
namespace {

bool IsPreset(const std::string& value) {
  for (const auto& names : {ModelNames(), ClusterNames(), ProfileNames()}) {
    if (std::find(names.begin(), names.end(), value) != names.end()) return true;
  }
  return false;
}

bool LooksLikeFile(const std::string& value) {
  if (IsPreset(value)) return false;
  std::error_code error;
  return std::filesystem::is_regular_file(value, error) || value.find('/') != std::string::npos ||
         value.ends_with(".json");
}

// config.json says little about the model; its folder usually carries the model's name.
std::string NameOf(const std::filesystem::path& path) {
  const std::string stem = path.stem().string();
  if (stem != "config") return stem;
  const std::string folder = std::filesystem::absolute(path).parent_path().filename().string();
  return folder.empty() ? stem : folder;
}

absl::StatusOr<SpecSource> ReadClusterSource(CommandFiles& files, const std::string& cluster,
                                             const std::string& server) {
  if (!NamesAgent(cluster)) return ReadSpecSource(files, "cluster", cluster);
  if (server.empty()) {
    return FieldError("cluster", cluster,
                      "what an agent measured is known to its server: name that with --server "
                      "HOST:PORT, where the command has it");
  }
  ASSIGN_OR_RETURN(const std::vector<v1::Agent> agents, ListAgents(server));
  return ClusterOfAgent(agents, cluster);
}

// What can't be resolved is refused later, with its reason.
bool IsOfProcessorCores(const SpecSource& cluster) {
  constexpr int32_t kAnyCores = 1;
  const absl::StatusOr<ClusterSpec> spec = ResolveCluster(cluster, kAnyCores);
  return spec.ok() && spec->physical_cores > 0;
}

}  // namespace

absl::StatusOr<SpecSource> ReadSpecSource(CommandFiles& files, std::string_view flag,
                                          const std::string& value) {
  if (value.empty()) return FieldError(flag, value, "must not be empty");
  if (!LooksLikeFile(value)) return SpecSource{value, ""};
  ASSIGN_OR_RETURN(std::string text, files.Read(flag, value, kMaxSpecBytes));
  if (text.empty()) return FieldError(flag, value, "is an empty file");
  return SpecSource{NameOf(value), std::move(text)};
}

void OutputFlags::AddFormat(CLI::App& app) {
  AddEnumOption<OutputFormat>(app, "--format", format, "How the answer is printed",
                              {{"text", OutputFormat::kText}, {"json", OutputFormat::kJson}})
      ->group(kCommonFlags);
}

void OutputFlags::AddServer(CLI::App& app) {
  app.add_option("--server", server, "Ask this server instead of computing here")
      ->option_text("HOST:PORT")
      ->group(kCommonFlags);
}

void QueryFlags::AddModel(CLI::App& app) {
  app.add_option("--model", model,
                 "HuggingFace config.json, the folder of one, or a preset (meshwright list models)")
      ->required()
      ->option_text("FILE|MODEL");
}

void QueryFlags::AddTraining(CLI::App& app) {
  app.add_option("--seq-len", seq_len, "Tokens per sequence")->required()->option_text("S");
  app.add_option("--global-batch", global_batch, "Sequences per optimizer step")
      ->required()
      ->option_text("B");
  TakeWords(app.add_option("--dtype", dtype,
                           "Number format of the matrix products; default bf16, on processor cores "
                           "fp32"),
            {"bf16", "fp32", "fp64"});
}

void QueryFlags::AddCluster(CLI::App& app) {
  app.add_option(
         "--cluster", cluster,
         "Cluster file, a preset (meshwright list clusters), or what an agent of the server "
         "measured (meshwright list agents)")
      ->required()
      ->option_text("FILE|CLUSTER|agent:NAME");
  app.add_option("--gpus", devices, "Devices to use")->required()->option_text("N");
}

void QueryFlags::AddFramework(CLI::App& app) {
  app.add_option("--framework", framework,
                 "Framework profile, file or preset (meshwright list profiles)")
      ->capture_default_str()
      ->option_text("FILE|PROFILE");
}

absl::StatusOr<PlanQuery> QueryFlags::ToQuery(CommandFiles& files,
                                              const std::string& server) const {
  PlanQuery query;
  ASSIGN_OR_RETURN(query.model, ReadSpecSource(files, "model", model));
  ASSIGN_OR_RETURN(query.cluster, ReadClusterSource(files, cluster, server));
  ASSIGN_OR_RETURN(query.framework, ReadSpecSource(files, "framework", framework));
  query.devices = devices;
  query.training = {.seq_len = seq_len, .global_batch = global_batch};
  if (!dtype.empty()) {
    ASSIGN_OR_RETURN(query.training.precision, ParsePrecision(dtype));
  } else if (IsOfProcessorCores(query.cluster)) {
    query.training.precision = Precision::kFp32;
  }
  return query;
}

}  // namespace meshwright
