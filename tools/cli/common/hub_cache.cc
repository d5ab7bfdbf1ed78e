#include "tools/cli/common/hub_cache.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/text/field_error.h"
#include "base/text/message_text.h"
#include "base/text/string_view.h"

namespace meshwright::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFolderPrefix = "models--";
constexpr std::array<std::string_view, 2> kSites = {"huggingface.co", "hf.co"};
// First parts of the site's addresses that are no organisation.
constexpr std::array<std::string_view, 6> kOtherPages = {"datasets", "spaces", "papers",
                                                         "docs",     "blog",   "collections"};
// These words may stand between a model and a revision in a URL.
constexpr std::array<std::string_view, 4> kViews = {"tree", "blob", "resolve", "raw"};
constexpr size_t kMostPartBytes = 96;  // of an organisation or a name, as on the Hub
constexpr size_t kMostRevisionBytes = 200;
constexpr size_t kMostShownSnapshots = 3;

template <size_t kCount>
bool IsAmong(const std::array<std::string_view, kCount>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool IsNameByte(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
}

// Returns whether the text may be an organisation or a name on the Hub.
bool IsPart(std::string_view text) {
  return !text.empty() && text.size() <= kMostPartBytes && text.front() != '.' &&
         text.front() != '-' && std::all_of(text.begin(), text.end(), IsNameByte) &&
         !Contains(text, "--");
}

// Revisions become parts of a path and words of a command.
bool IsRevision(std::string_view text) {
  return !text.empty() && text.size() <= kMostRevisionBytes && !Contains(text, "..") &&
         text.front() != '/' && text.front() != '-' &&
         std::all_of(text.begin(), text.end(), [](char c) { return IsNameByte(c) || c == '/'; });
}

// Removes "https://", and returns whether the text is an address: of any site with that beginning,
// of the Hub without.
bool TakeAddress(std::string_view& text) {
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (!text.starts_with(scheme)) continue;
    text.remove_prefix(scheme.size());
    return true;
  }
  return IsAmong(kSites, text.substr(0, text.find('/')));
}

absl::StatusOr<std::optional<HubModel>> ParseUrl(std::string_view flag, std::string_view url,
                                                 std::string_view address) {
  address = address.substr(0, address.find_first_of("?#"));
  const std::vector<std::string> parts = absl::StrSplit(AbslView(address), '/', absl::SkipEmpty());
  const bool is_hub = !parts.empty() && IsAmong(kSites, parts.front());
  if (!is_hub || parts.size() < 2 || IsAmong(kOtherPages, parts[1])) {
    return FieldError(flag, EscapeControls(url),
                      "is no model's page; must be https://huggingface.co/ORG/NAME, a Hub id "
                      "ORG/NAME, or a file");
  }
  HubModel model;
  const bool has_organisation = parts.size() > 2 && !IsAmong(kViews, parts[2]);
  const size_t view = has_organisation ? 3 : 2;
  model.id = has_organisation ? parts[1] + "/" + parts[2] : parts[1];
  if (parts.size() > view + 1 && IsAmong(kViews, parts[view])) model.revision = parts[view + 1];
  const bool valid = IsPart(parts[1]) && (!has_organisation || IsPart(parts[2])) &&
                     (model.revision.empty() || IsRevision(model.revision));
  if (!valid) return FieldError(flag, EscapeControls(url), "is no address of a model");
  if (model.revision == "main") model.revision.clear();
  return model;
}

// Returns the first word of a small file, or an empty text.
std::string WordIn(const fs::path& path) {
  std::string word;
  std::ifstream(path) >> word;
  return word;
}

std::vector<std::string> SnapshotsIn(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder / "snapshots", error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code unreadable;
    if (entry->is_directory(unreadable)) names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string ExpandHome(const std::string& path, const std::string& home) {
  return path.starts_with("~/") && !home.empty() ? home + path.substr(1) : path;
}

}  // namespace

absl::StatusOr<std::optional<HubModel>> ParseHubModel(std::string_view flag,
                                                      std::string_view text) {
  std::string_view address = text;
  if (TakeAddress(address)) return ParseUrl(flag, text, address);
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos || text.ends_with(".json")) return std::nullopt;
  if (!IsPart(text.substr(0, slash)) || !IsPart(text.substr(slash + 1))) return std::nullopt;
  return HubModel{std::string(text), ""};
}

std::optional<HubModel> HubModelOfFolder(std::string_view folder_name) {
  if (!folder_name.starts_with(kFolderPrefix)) return std::nullopt;
  const std::vector<std::string> parts =
      absl::StrSplit(AbslView(folder_name.substr(kFolderPrefix.size())), "--");
  const bool valid = parts.size() <= 2 && std::all_of(parts.begin(), parts.end(), IsPart);
  if (!valid) return std::nullopt;
  return HubModel{absl::StrJoin(parts, "/"), ""};
}

std::string HubCacheFolder(const command_line::Environment& environment) {
  const auto value = [&](const char* name) {
    return environment ? environment(name).value_or("") : std::string();
  };
  const std::string home = value("HOME");
  if (const std::string cache = value("HF_HUB_CACHE"); !cache.empty()) {
    return ExpandHome(cache, home);
  }
  std::string folder = value("HF_HOME");
  if (folder.empty()) {
    std::string caches = value("XDG_CACHE_HOME");
    if (caches.empty() && !home.empty()) caches = home + "/.cache";
    if (caches.empty()) return "";
    folder = caches + "/huggingface";
  }
  return ExpandHome(folder, home) + "/hub";
}

std::string FolderInCache(const std::string& cache, const HubModel& model) {
  const std::string name = absl::StrReplaceAll(model.id, {{"/", "--"}});
  return (fs::path(cache) / (std::string(kFolderPrefix) + name)).string();
}

std::string FetchCommand(const HubModel& model) {
  return absl::StrCat("hf download ", model.id, " config.json",
                      model.revision.empty() ? "" : " --revision " + model.revision);
}

absl::StatusOr<std::string> SnapshotIn(std::string_view flag, const std::string& folder,
                                       const HubModel& model) {
  const std::string revision = model.revision.empty() ? "main" : model.revision;
  std::string commit = WordIn(fs::path(folder) / "refs" / revision);
  const std::vector<std::string> snapshots = SnapshotsIn(folder);
  const auto has = [&](const std::string& name) {
    return std::find(snapshots.begin(), snapshots.end(), name) != snapshots.end();
  };
  if (commit.empty() && has(revision)) commit = revision;
  const bool only_one = commit.empty() && model.revision.empty() && snapshots.size() == 1;
  if (only_one) commit = snapshots.front();
  const std::string fetch = "fetch it with: " + FetchCommand(model);
  if (commit.empty() && model.revision.empty() && snapshots.size() > 1) {
    std::vector<std::string> shown(
        snapshots.begin(), snapshots.begin() + std::min(snapshots.size(), kMostShownSnapshots));
    if (snapshots.size() > shown.size()) {
      shown.push_back(absl::StrCat(snapshots.size() - shown.size(), " more"));
    }
    return FieldError(flag, folder,
                      absl::StrCat("has the snapshots ", EscapeControls(ListInWords(shown, "and")),
                                   ", and has no refs/main to choose one of them; must be the "
                                   "folder of one of them, or ",
                                   fetch));
  }
  if (!has(commit)) {
    return FieldError(flag, folder,
                      absl::StrCat("has no snapshot of ", EscapeControls(revision), "; ", fetch));
  }
  return (fs::path(folder) / "snapshots" / commit).string();
}

}  // namespace meshwright::cli
