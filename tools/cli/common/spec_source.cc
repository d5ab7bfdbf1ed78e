#include "tools/cli/common/spec_source.h"

#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/message_text.h"
#include "base/text/status_macros.h"
#include "planner/catalog/catalog.h"
#include "planner/catalog/cluster_words.h"
#include "planner/catalog/spec_kind.h"
#include "tools/cli/io/input_error.h"

namespace meshwright::cli {
namespace {

// Returns the kind of spec that a flag takes: a model, a cluster or a framework's profile.
std::string_view SpecKindOf(std::string_view flag) { return flag == "base" ? "cluster" : flag; }

bool LooksLikeFile(const std::string& value) {
  std::error_code error;
  return value == kStandardInput || std::filesystem::exists(value, error) ||
         value.find('/') != std::string::npos || value.ends_with(".json");
}

absl::Status OfOtherKind(std::string_view flag, const std::string& value, std::string_view kind) {
  const auto named = [](std::string_view of) {
    return of == "framework" ? std::string("a framework's profile") : "a " + std::string(of);
  };
  return FieldError(flag, value,
                    absl::StrCat("is ", named(kind), ", not ", named(SpecKindOf(flag)), "; --",
                                 std::string(kind), " takes it"));
}

// Returns the name that the text gives its spec, or why it is no spec of its kind. A server would
// refuse it too, but without the file's name.
absl::StatusOr<std::string> NameInText(std::string_view kind, const std::string& text) {
  constexpr int32_t kAnyCores = 1;
  if (kind == "cluster") {
    ASSIGN_OR_RETURN(const planner::ClusterSpec cluster, planner::ClusterFromJson(text, kAnyCores));
    return cluster.name;
  }
  ASSIGN_OR_RETURN(const planner::FrameworkProfile profile, planner::ProfileFromJson(text));
  return profile.name;
}

}  // namespace

absl::Status CheckKind(std::string_view flag, const std::string& path, std::string_view text) {
  const std::string_view kind = planner::KindOfText(text);
  const bool is_other = !kind.empty() && kind != SpecKindOf(flag);
  return is_other ? OfOtherKind(flag, path, kind) : absl::OkStatus();
}

absl::Status CheckKindOfPreset(std::string_view flag, const std::string& value) {
  const std::string_view kind = planner::KindOfPreset(value);
  const bool is_other = !kind.empty() && kind != SpecKindOf(flag);
  return is_other ? OfOtherKind(flag, value, kind) : absl::OkStatus();
}

absl::StatusOr<std::string> ReadSpecText(CommandFiles& files, std::string_view flag,
                                         const std::string& path) {
  const bool is_input = path == kStandardInput;
  ASSIGN_OR_RETURN(std::string text, is_input ? files.ReadStandardInput(flag, kMaxSpecBytes)
                                              : files.Read(flag, path, kMaxSpecBytes));
  if (text.empty()) {
    return FieldError(
        flag, path,
        is_input ? "standard input is empty; must be the text of a file" : "is an empty file");
  }
  return text;
}

absl::StatusOr<planner::SpecSource> ReadSpecSource(CommandFiles& files, std::string_view flag,
                                                   const std::string& value) {
  const std::string_view kind = SpecKindOf(flag);
  if (value.empty()) return FieldError(flag, value, "must name a file or a preset");
  if (const std::string preset = planner::PresetNamed(kind, value); !preset.empty()) {
    return planner::SpecSource{preset, ""};
  }
  if (kind == "cluster" && planner::IsInClusterWords(value)) {
    return planner::SpecSource{value, ""};
  }
  if (!LooksLikeFile(value)) {
    RETURN_IF_ERROR(CheckKindOfPreset(flag, value));
    return planner::SpecSource{value, ""};
  }
  ASSIGN_OR_RETURN(std::string text, ReadSpecText(files, flag, value));
  RETURN_IF_ERROR(CheckKind(flag, value, text));
  absl::StatusOr<std::string> name = NameInText(kind, text);
  RETURN_IF_ERROR(InFile(flag, value, name.status()));
  // A file that was made from a preset, by a fit or by hand, may still have the preset's name.
  if (!planner::PresetNamed(kind, *name).empty()) {
    name = value == kStandardInput ? files.InputName(flag)
                                   : std::filesystem::path(value).stem().string();
  }
  return planner::SpecSource{EscapeControls(*name), std::move(text)};
}

}  // namespace meshwright::cli
