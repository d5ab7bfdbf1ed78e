#include "executor/agent/result_box.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/json_text.h"
#include "nlohmann/json.hpp"

namespace meshwright::agent {
namespace {

constexpr char kTemporary[] = ".tmp";

namespace fs = std::filesystem;

constexpr size_t kMaxStoreId = 64;

// These return an empty string and 0 if the key is missing.
std::string StringOf(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}
int32_t NumberOf(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number_integer() ? found->get<int32_t>() : 0;
}

// Returns `name` with %XX for every byte that is special in paths or not plain text.
std::string FileNameOf(const std::string& name) {
  std::string encoded;
  for (const char c : name) {
    const bool plain =
        absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '_';
    if (plain) {
      encoded += c;
    } else {
      absl::StrAppendFormat(&encoded, "%%%02X", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

bool CanBeDelivered(const KeptResult& kept) {
  return IsStoreId(kept.store_id) && !kept.key.sweep.empty() && kept.key.trial > 0 &&
         kept.key.attempt > 0;
}

std::optional<KeptResult> ReadKept(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const absl::StatusOr<nlohmann::json> json = ParseJson("result", text);
  if (!json.ok() || !json->is_object() || !json->contains("result")) return std::nullopt;
  const absl::StatusOr<trial::TrialResult> result = trial::TrialResultFromJson((*json)["result"]);
  if (!result.ok()) return std::nullopt;
  KeptResult kept{StringOf(*json, "store_id"),
                  {StringOf(*json, "sweep"), NumberOf(*json, "trial"), NumberOf(*json, "attempt")},
                  StringOf(*json, "token"),
                  *result};
  if (!CanBeDelivered(kept)) return std::nullopt;
  return kept;
}

absl::Status Failed(const std::string& path) {
  return absl::UnavailableError(absl::StrCat("can't write ", path, ": ", std::strerror(errno)));
}

// A new file's name is durable only once its folder is synced.
absl::Status SyncFolder(const std::string& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return Failed(folder);
  const bool synced = fsync(fd) == 0;
  close(fd);
  return synced ? absl::OkStatus() : Failed(folder);
}

// A nearly full disk first accepts a part of the text, and fails on the next call.
bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

// Writes the file atomically: with all of its text, or not at all.
absl::Status WriteDurably(const std::string& path, const std::string& text) {
  const std::string temporary = absl::StrCat(path, ".", getpid(), kTemporary);
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return Failed(temporary);
  absl::Cleanup remove = [&] { unlink(temporary.c_str()); };
  absl::Status written =
      WriteAll(fd, text) && fsync(fd) == 0 ? absl::OkStatus() : Failed(temporary);
  const bool closed = close(fd) == 0;
  if (!written.ok()) return written;
  if (!closed) return Failed(temporary);
  if (rename(temporary.c_str(), path.c_str()) != 0) return Failed(path);
  std::move(remove).Cancel();
  return SyncFolder(fs::path(path).parent_path());
}

}  // namespace

bool IsStoreId(std::string_view id) {
  return !id.empty() && id.size() <= kMaxStoreId &&
         std::all_of(id.begin(), id.end(), [](unsigned char c) { return absl::ascii_isxdigit(c); });
}

absl::StatusOr<ResultBox> ResultBox::Open(const std::string& folder) {
  ResultBox box(folder);
  if (folder.empty()) return box;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    return absl::UnavailableError(
        absl::StrCat("can't create the folder ", folder, " for results: ", error.message()));
  }
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == kTemporary) {
      // Left by an agent that was killed while it wrote.
      std::error_code ignored;
      fs::remove(entry.path(), ignored);
    }
    if (entry.path().extension() != ".json") continue;
    if (std::optional<KeptResult> kept = ReadKept(entry.path())) {
      box.kept_.push_back(*std::move(kept));
    }
  }
  return box;
}

std::string ResultBox::PathOf(const std::string& store_id, const wire::AttemptKey& key) const {
  return absl::StrCat(folder_, "/", FileNameOf(store_id), ".", FileNameOf(key.sweep), ".",
                      key.trial, ".", key.attempt, ".json");
}

absl::Status ResultBox::Write(const KeptResult& kept) const {
  const nlohmann::json json = {{"store_id", kept.store_id}, {"sweep", kept.key.sweep},
                               {"trial", kept.key.trial},   {"attempt", kept.key.attempt},
                               {"token", kept.token},       {"result", ToJson(kept.result)}};
  return WriteDurably(PathOf(kept.store_id, kept.key),
                      json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

absl::Status ResultBox::WriteAhead(const KeptResult& result) const {
  return folder_.empty() ? absl::OkStatus() : Write(result);
}

absl::Status ResultBox::Add(const KeptResult& kept) {
  kept_.push_back(kept);
  if (folder_.empty()) return absl::OkStatus();
  absl::Status written = Write(kept);
  if (!written.ok()) unwritten_.insert(PathOf(kept.store_id, kept.key));
  return written;
}

absl::Status ResultBox::WriteUnwritten() {
  for (const KeptResult& kept : kept_) {
    const std::string path = PathOf(kept.store_id, kept.key);
    if (unwritten_.count(path) == 0) continue;
    if (absl::Status status = Write(kept); !status.ok()) return status;
    unwritten_.erase(path);
  }
  return absl::OkStatus();
}

void ResultBox::Remove(const std::string& store_id, const wire::AttemptKey& key) {
  std::erase_if(
      kept_, [&](const KeptResult& kept) { return kept.store_id == store_id && kept.key == key; });
  if (folder_.empty()) return;
  const std::string path = PathOf(store_id, key);
  unwritten_.erase(path);
  unlink(path.c_str());
}

}  // namespace meshwright::agent
