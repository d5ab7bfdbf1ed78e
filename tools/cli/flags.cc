#include "tools/cli/flags.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "planner/catalog/catalog.h"
#include "planner/catalog/json_text.h"
#include "planner/spec/field_error.h"
#include "planner/spec/status_macros.h"
#include "tools/cli/agent_clusters.h"

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

absl::StatusOr<SpecSource> ReadClusterSource(const std::string& cluster,
                                             const std::string& server) {
  if (!NamesAgent(cluster)) return ReadSpecSource("cluster", cluster);
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

absl::StatusOr<SpecSource> ReadSpecSource(std::string_view flag, const std::string& value) {
  if (value.empty()) return FieldError(flag, value, "must not be empty");
  if (!LooksLikeFile(value)) return SpecSource{value, ""};
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(value, error);
  if (error) return FieldError(flag, value, "cannot be read: " + error.message());
  if (size > kMaxSpecBytes) {
    return FieldError(flag, value,
                      absl::StrCat("has ", size, " bytes; must be at most ", kMaxSpecBytes));
  }
  std::ifstream file(value, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return FieldError(flag, value, "cannot be read");
  if (text.str().empty()) return FieldError(flag, value, "is an empty file");
  return SpecSource{NameOf(value), text.str()};
}

void OutputFlags::AddFormat(CLI::App& app) {
  static const std::map<std::string, OutputFormat> kFormats = {{"text", OutputFormat::kText},
                                                               {"json", OutputFormat::kJson}};
  app.add_option("--format", format, "text or json")
      ->transform(CLI::CheckedTransformer(kFormats).description(""))
      ->option_text("text|json");
}

void OutputFlags::AddServer(CLI::App& app) {
  app.add_option("--server", server, "Ask this server instead of computing here")
      ->option_text("HOST:PORT");
}

void QueryFlags::AddModel(CLI::App& app) {
  app.add_option("--model", model, "HuggingFace config.json, or a preset (meshwright list models)")
      ->required()
      ->option_text("FILE|PRESET");
}

void QueryFlags::AddTraining(CLI::App& app) {
  app.add_option("--seq-len", seq_len, "Tokens per sequence")->required()->option_text("S");
  app.add_option("--global-batch", global_batch, "Sequences per optimizer step")
      ->required()
      ->option_text("B");
  app.add_option("--dtype", dtype, "bf16, fp32 or fp64; default bf16, on processor cores fp32")
      ->option_text("bf16|fp32|fp64");
}

void QueryFlags::AddCluster(CLI::App& app) {
  app.add_option(
         "--cluster", cluster,
         "Cluster file, a preset (meshwright list clusters), or what an agent of the server "
         "measured (meshwright list agents)")
      ->required()
      ->option_text("FILE|PRESET|agent:NAME");
  app.add_option("--gpus", devices, "Devices to use")->required()->option_text("N");
}

void QueryFlags::AddFramework(CLI::App& app) {
  app.add_option("--framework", framework,
                 "Framework profile, file or preset (meshwright list profiles)")
      ->capture_default_str()
      ->option_text("FILE|PRESET");
}

absl::StatusOr<PlanQuery> QueryFlags::ToQuery(const std::string& server) const {
  PlanQuery query;
  ASSIGN_OR_RETURN(query.model, ReadSpecSource("model", model));
  ASSIGN_OR_RETURN(query.cluster, ReadClusterSource(cluster, server));
  ASSIGN_OR_RETURN(query.framework, ReadSpecSource("framework", framework));
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
