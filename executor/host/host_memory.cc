#include "executor/host/host_memory.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace meshwright::host {
namespace {

// Version 1 writes "no limit" as the largest number of pages, in bytes.
constexpr int64_t kNoLimitBytes = int64_t{1} << 60;

// File names of a control group version.
struct CgroupFiles {
  const char* limit;
  const char* usage;
  // Lines of memory.stat that count the page cache of the group and of those inside it.
  std::vector<absl::string_view> cache;
};

const CgroupFiles& FilesOf(bool unified) {
  static const CgroupFiles version_1 = {.limit = "memory.limit_in_bytes",
                                        .usage = "memory.usage_in_bytes",
                                        .cache = {"total_inactive_file", "total_active_file"}};
  static const CgroupFiles version_2 = {
      .limit = "memory.max", .usage = "memory.current", .cache = {"inactive_file", "active_file"}};
  return unified ? version_2 : version_1;
}

std::vector<std::string> LinesOf(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::optional<int64_t> NumberIn(const std::filesystem::path& path) {
  std::ifstream file(path);
  int64_t number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

// Returns the number after `name` in a file of lines "name number …"; 0 if there is none.
int64_t NamedNumber(const std::filesystem::path& path, absl::string_view name) {
  for (const std::string& line : LinesOf(path)) {
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    int64_t number = 0;
    if (words.size() >= 2 && words[0] == name && absl::SimpleAtoi(words[1], &number)) {
      return number;
    }
  }
  return 0;
}

// A mounted tree of control groups: its mount point, and the group mounted there.
struct CgroupMount {
  std::string folder;
  std::string group;
  bool unified = false;  // version 2
};

// Returns the trees that account memory from the lines "id parent device group folder options … -
// type source options".
std::vector<CgroupMount> MemoryMounts(const std::filesystem::path& root) {
  std::vector<CgroupMount> mounts;
  for (const std::string& line : LinesOf(root / "proc/self/mountinfo")) {
    const std::pair<absl::string_view, absl::string_view> halves =
        absl::StrSplit(line, absl::MaxSplits(" - ", 1));
    const std::vector<absl::string_view> place = absl::StrSplit(halves.first, ' ');
    const std::vector<absl::string_view> kind = absl::StrSplit(halves.second, ' ');
    if (place.size() < 5 || kind.size() < 3) continue;
    const std::vector<absl::string_view> options = absl::StrSplit(kind[2], ',');
    const bool unified = kind[0] == "cgroup2";
    const bool counts_memory =
        kind[0] == "cgroup" && std::count(options.begin(), options.end(), "memory") > 0;
    if (!unified && !counts_memory) continue;
    mounts.push_back({std::string(place[4]), std::string(place[3]), unified});
  }
  return mounts;
}

// Returns this process's group as a path from the tree's root. Lines are "number:controllers:path";
// version 2 has the number 0 and no controllers.
std::optional<std::string> OwnGroup(const std::filesystem::path& root, bool unified) {
  for (const std::string& line : LinesOf(root / "proc/self/cgroup")) {
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    const std::vector<absl::string_view> controllers = absl::StrSplit(parts[1], ',');
    const bool matches = unified ? parts[0] == "0" && parts[1].empty()
                                 : std::count(controllers.begin(), controllers.end(), "memory") > 0;
    if (matches) return parts[2];
  }
  return std::nullopt;
}

// Returns `group` relative to the mounted group, such as "a/b". A group outside of it, as seen in a
// container without its own namespace, counts as the mounted one.
std::string BelowMount(absl::string_view group, absl::string_view mounted) {
  if (mounted == "/") mounted = "";
  const bool inside = absl::ConsumePrefix(&group, mounted) &&
                      (group.empty() || group.front() == '/') && !absl::StrContains(group, "..");
  if (!inside) return "";
  absl::ConsumePrefix(&group, "/");
  absl::ConsumeSuffix(&group, "/");
  return std::string(group);
}

std::optional<CgroupMemoryLimit> LimitOf(const std::filesystem::path& root,
                                         const std::filesystem::path& folder, bool unified) {
  const CgroupFiles& files = FilesOf(unified);
  const std::filesystem::path here = root / folder.relative_path();
  const std::optional<int64_t> limit_bytes = NumberIn(here / files.limit);
  if (!limit_bytes.has_value() || *limit_bytes < 0 || *limit_bytes >= kNoLimitBytes) {
    return std::nullopt;
  }
  int64_t used_bytes = NumberIn(here / files.usage).value_or(0);
  for (const absl::string_view name : files.cache) {
    used_bytes -= NamedNumber(here / "memory.stat", name);
  }
  return CgroupMemoryLimit{.file = folder / files.limit,
                           .limit_bytes = *limit_bytes,
                           .used_bytes = std::max<int64_t>(used_bytes, 0)};
}

}  // namespace

std::vector<CgroupMemoryLimit> CgroupMemoryLimits(const std::string& root) {
  std::vector<CgroupMemoryLimit> limits;
  for (const CgroupMount& mount : MemoryMounts(root)) {
    const std::optional<std::string> group = OwnGroup(root, mount.unified);
    if (!group.has_value()) continue;
    std::filesystem::path below = BelowMount(*group, mount.group);
    while (true) {
      const auto folder = below.empty() ? std::filesystem::path(mount.folder)
                                        : std::filesystem::path(mount.folder) / below;
      if (const auto limit = LimitOf(root, folder, mount.unified)) limits.push_back(*limit);
      if (below.empty()) break;
      below = below.parent_path();
    }
  }
  return limits;
}

absl::StatusOr<MemoryRoom> AvailableMemory(const std::string& root) {
  std::optional<MemoryRoom> least;
  const auto consider = [&least](int64_t bytes, const std::string& limit) {
    if (!least.has_value() || bytes < least->bytes) {
      least = MemoryRoom{.bytes = std::max<int64_t>(bytes, 0), .limit = limit};
    }
  };
  const int64_t available_kib =
      NamedNumber(std::filesystem::path(root) / "proc/meminfo", "MemAvailable:");
  if (available_kib > 0) consider(available_kib * 1024, "MemAvailable in /proc/meminfo");
  for (const CgroupMemoryLimit& limit : CgroupMemoryLimits(root)) {
    consider(limit.limit_bytes - limit.used_bytes, limit.file);
  }
  if (least.has_value()) return *least;
  return absl::UnavailableError(
      "/proc/meminfo has no MemAvailable, and no control group has a limit");
}

}  // namespace meshwright::host
