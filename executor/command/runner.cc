#include "executor/command/runner.h"

#include <fcntl.h>
#include <openssl/sha.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/system/unique_fd.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "executor/command/command_words.h"
#include "executor/command/log_reader.h"
#include "executor/command/placeholders.h"
#include "planner/catalog/catalog.h"
#include "planner/codec/json_codec.h"
#include "planner/interchange/export.h"
#include "planner/layout/layout_condition.h"

namespace meshwright::command {
namespace {

constexpr size_t kMostNameBytes = 64;
constexpr int32_t kMostWarmUpSteps = 1000;

std::string Sha256(std::string_view text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest = {};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

bool IsWord(std::string_view text, std::string_view further) {
  if (text.empty() || text.size() > kMostNameBytes) return false;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter && further.find(c) == std::string_view::npos) return false;
  }
  return true;
}

absl::Status CheckVariable(std::string_view field, const std::string& name) {
  if (!IsWord(name, "_") || (name[0] >= '0' && name[0] <= '9')) {
    return FieldError(field, name, "must be the name of a variable: letters, digits and '_'");
  }
  // Such variables have the agent's token and say where its files are.
  if (absl::StartsWith(name, "MESHWRIGHT_")) {
    return FieldError(field, name,
                      "must not begin with MESHWRIGHT_: these variables are Meshwright's own");
  }
  return absl::OkStatus();
}

absl::StatusOr<LogFormat> ReadLog(const nlohmann::json& log) {
  if (log.is_string()) return FindLogFormat("log", log.get<std::string>());
  if (!log.is_object()) {
    return FieldError(
        "log", ShowJson(log),
        "must be the name of a format, or an object with a regular expression for each figure");
  }
  LogFormat format;
  for (auto entry = log.begin(); entry != log.end(); ++entry) {
    if (!entry->is_string()) {
      return FieldError(absl::StrCat("log.", entry.key()), ShowJson(*entry),
                        "must be a regular expression");
    }
    format.patterns.emplace(entry.key(), entry->get<std::string>());
  }
  return format;
}

// Returns the names of the placeholders that must be whole arguments.
std::vector<std::string> WholeNames(const Runner& runner) {
  std::vector<std::string> names;
  if (!runner.export_to.empty()) names.emplace_back("args");
  for (const auto& [name, rule] : runner.fields) names.push_back(name);
  return names;
}

absl::Status CheckFields(const Runner& runner) {
  for (const auto& [name, rule] : runner.fields) {
    const std::string path = absl::StrCat("fields.", name);
    if (!IsWord(name, "_") || name == "args" || name == kRankPlaceholder) {
      return FieldError(path, name, "must be a name of lower-case letters, digits and '_'");
    }
    for (const std::string& own : InnerPlaceholders()) {
      if (own == name) {
        return FieldError(path, name, "must not be the name of a built-in placeholder");
      }
    }
    RETURN_IF_ERROR(CheckRule(path, rule));
  }
  return absl::OkStatus();
}

absl::Status CheckEnvironment(const std::string& path,
                              const std::map<std::string, std::string>& environment,
                              bool of_slice) {
  for (const auto& [name, value] : environment) {
    RETURN_IF_ERROR(CheckVariable(path, name));
    RETURN_IF_ERROR(CheckPlaceholders(absl::StrCat(path, ".", name), {"", value}, {}, of_slice));
  }
  return absl::OkStatus();
}

absl::Status CheckSlice(const Runner& runner) {
  const RunnerSlice& slice = *runner.slice;
  if (slice.argv.empty() || slice.argv[0].empty()) {
    return FieldError("slice.argv", "[]", "must begin with a program");
  }
  RETURN_IF_ERROR(
      CheckPlaceholders("slice.argv", slice.argv, WholeNames(runner), /*of_slice=*/true));
  return CheckEnvironment("slice.environment", slice.environment, /*of_slice=*/true);
}

absl::Status Check(const Runner& runner) {
  if (!IsWord(runner.name, "._-") || runner.name[0] == '-' || runner.name[0] == '.') {
    return FieldError("name", runner.name, "must have 1 to 64 letters, digits, '.', '-' and '_'");
  }
  RETURN_IF_ERROR(WithField(planner::FindProfile(runner.framework).status(), "framework"));
  if (!runner.export_to.empty()) {
    RETURN_IF_ERROR(WithField(planner::ParseExportTarget(runner.export_to).status(), "export"));
  }
  RETURN_IF_ERROR(planner::ParseLayoutCondition("where", runner.where).status());
  if (runner.argv.empty() || runner.argv[0].empty()) {
    return FieldError("argv", "[]", "must begin with a program");
  }
  RETURN_IF_ERROR(CheckFields(runner));
  RETURN_IF_ERROR(CheckPlaceholders("argv", runner.argv, WholeNames(runner)));
  for (const std::string& name : runner.pass) RETURN_IF_ERROR(CheckVariable("pass", name));
  RETURN_IF_ERROR(CheckEnvironment("environment", runner.environment, /*of_slice=*/false));
  if (runner.slice) {
    RETURN_IF_ERROR(CheckSlice(runner));
  }
  RETURN_IF_ERROR(CheckRange("warm_up_steps", runner.warm_up_steps, 1, kMostWarmUpSteps));
  return LogReader::Make(runner.log, {}).status();
}

absl::Status ErrnoStatus(const std::string& path, int error) {
  const std::string message = absl::StrCat(path, ": ", std::strerror(error));
  return error == ENOENT ? absl::NotFoundError(message) : absl::UnavailableError(message);
}

// Whether only this user and root may write it. In a sticky folder nobody replaces another's entry.
bool IsOurs(const struct stat& status, bool sticky_is_enough) {
  if (status.st_uid != ::geteuid() && status.st_uid != 0) return false;
  const bool others_write = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  return !others_write || (sticky_is_enough && (status.st_mode & S_ISVTX) != 0);
}

absl::Status NotOurs(const std::string& path) {
  return absl::PermissionDeniedError(absl::StrCat(
      path,
      " may be written by another user, who could then run programs as this one; it must be "
      "owned by this user or root, and not be writable for its group or others"));
}

// Checks the folder and all folders around it.
absl::Status CheckFolders(std::filesystem::path folder) {
  for (bool direct = true;; direct = false) {
    struct stat status {};
    if (::stat(folder.c_str(), &status) != 0) return ErrnoStatus(folder, errno);
    if (!IsOurs(status, /*sticky_is_enough=*/!direct)) return NotOurs(folder);
    if (folder == folder.root_path()) return absl::OkStatus();
    folder = folder.parent_path();
  }
}

absl::StatusOr<std::string> ReadOwnFile(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return ErrnoStatus(path, errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return ErrnoStatus(path, errno);
  if (!S_ISREG(status.st_mode)) return FieldError("runner", path, "must be a file");
  if (!IsOurs(status, /*sticky_is_enough=*/false)) return NotOurs(path);
  std::string text(kMaxRunnerBytes + 1, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t read = ::read(file.get(), text.data() + size, text.size() - size);
    if (read < 0 && errno != EINTR) return ErrnoStatus(path, errno);
    if (read == 0) break;
    if (read > 0) size += static_cast<size_t>(read);
  }
  text.resize(size);
  return text;
}

}  // namespace

absl::StatusOr<Runner> ParseRunner(std::string_view text, std::string_view folder) {
  ASSIGN_OR_RETURN(nlohmann::json json, ParseJson("runner", text, kMaxRunnerBytes));
  Runner runner;
  if (json.is_object() && json.contains("log")) {
    ASSIGN_OR_RETURN(runner.log, ReadLog(json["log"]));
    json.erase("log");
  }
  RETURN_IF_ERROR(planner::ReadJson("runner", json, planner::UnknownKeys::kRefuse, runner));
  RETURN_IF_ERROR(Check(runner));
  runner.hash = Sha256(text);
  runner.folder = std::string(folder);
  return runner;
}

absl::StatusOr<Runner> ReadRunner(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  if (error) return ErrnoStatus(path, error.value());
  // A link's own folder decides which file the path names.
  const std::filesystem::path given =
      std::filesystem::canonical(std::filesystem::absolute(path).parent_path(), error);
  if (error) return ErrnoStatus(path, error.value());
  RETURN_IF_ERROR(CheckFolders(given));
  RETURN_IF_ERROR(CheckFolders(real.parent_path()));
  ASSIGN_OR_RETURN(const std::string text, ReadOwnFile(real));
  const absl::StatusOr<Runner> runner = ParseRunner(text, real.parent_path().string());
  if (runner.ok()) return runner;
  return absl::Status(runner.status().code(), absl::StrCat(path, ": ", runner.status().message()));
}

Runner SliceRunner(const Runner& runner) {
  Runner slice = runner;
  slice.argv = runner.slice->argv;
  for (const auto& [name, value] : runner.slice->environment) slice.environment[name] = value;
  slice.slice.reset();
  return slice;
}

bool RunsOnSeveralNodes(const Runner& runner) {
  return HasPlaceholder(runner.argv, "node") && HasPlaceholder(runner.argv, "address") &&
         HasPlaceholder(runner.argv, "port");
}

absl::Status CheckLayout(const Runner& runner, const planner::Layout& layout) {
  ASSIGN_OR_RETURN(const planner::Condition where,
                   planner::ParseLayoutCondition("where", runner.where));
  if (planner::LayoutMatcher(where).Matches(layout)) return absl::OkStatus();
  return FieldError(
      "layout", planner::FormatLayout(layout),
      absl::StrCat("must be one that the runner ", runner.name, " runs: ", runner.where));
}

absl::StatusOr<Runner> RunnerOfCommand(std::string_view command, std::string_view framework,
                                       std::string_view export_to, std::string_view log,
                                       std::vector<std::string> pass) {
  Runner runner{.name = "command", .framework = std::string(framework)};
  runner.export_to = std::string(export_to);
  ASSIGN_OR_RETURN(runner.argv, CommandWords(command));
  ASSIGN_OR_RETURN(runner.log, FindLogFormat("log", log));
  runner.pass = std::move(pass);
  RETURN_IF_ERROR(Check(runner));
  runner.hash = Sha256(command);
  runner.folder = std::filesystem::current_path().string();
  return runner;
}

}  // namespace meshwright::command
