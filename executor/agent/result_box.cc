#include "executor/agent/result_box.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "base/text/json_text.h"
#include "executor/agent/durable_file.h"
#include "nlohmann/json.hpp"

namespace meshwright::agent {
namespace {

constexpr char kAcknowledged[] = ".stored";  // the epoch of the server follows
// More than a server acknowledges while its standby is behind.
constexpr size_t kMostAcknowledged = 1000;

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

// Returns the epoch in the extension of an acknowledged result's file; nullopt for other files.
std::optional<int64_t> EpochOf(absl::string_view extension) {
  int64_t epoch = 0;
  if (!absl::ConsumePrefix(&extension, kAcknowledged) || !absl::SimpleAtoi(extension, &epoch) ||
      epoch <= 0) {
    return std::nullopt;
  }
  return epoch;
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
    if (entry.path().extension() == kTemporaryExtension) {
      // Left by an agent that was killed while it wrote.
      std::error_code ignored;
      fs::remove(entry.path(), ignored);
    }
    const std::string extension = entry.path().extension();
    const std::optional<int64_t> epoch = EpochOf(extension);
    if (extension != ".json" && !epoch) continue;
    std::optional<KeptResult> kept = ReadKept(entry.path());
    if (!kept) continue;
    kept->acknowledged_epoch = epoch.value_or(0);
    (epoch ? box.acknowledged_ : box.kept_).push_back(*std::move(kept));
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

std::string ResultBox::PathOf(const KeptResult& acknowledged) const {
  const std::string path = PathOf(acknowledged.store_id, acknowledged.key);
  return absl::StrCat(absl::StripSuffix(path, ".json"), kAcknowledged,
                      acknowledged.acknowledged_epoch);
}

void ResultBox::Acknowledge(const std::string& store_id, const wire::AttemptKey& key, int64_t epoch,
                            MonotonicTime forget_time) {
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const KeptResult& kept) {
    return kept.store_id == store_id && kept.key == key;
  });
  if (found == kept_.end()) return;
  KeptResult acknowledged = std::move(*found);
  kept_.erase(found);
  acknowledged.acknowledged_epoch = epoch;
  acknowledged.forget_time = forget_time;
  if (!folder_.empty()) {
    const std::string path = PathOf(store_id, key);
    unwritten_.erase(path);
    // A result that has no file is remembered in memory only.
    if (rename(path.c_str(), PathOf(acknowledged).c_str()) != 0) unlink(path.c_str());
  }
  acknowledged_.push_back(std::move(acknowledged));
  if (acknowledged_.size() > kMostAcknowledged) DropAcknowledged(0);
}

void ResultBox::KeepAgain(const std::string& store_id, int64_t epoch) {
  std::vector<KeptResult> others;
  for (KeptResult& result : acknowledged_) {
    if (result.store_id != store_id || result.acknowledged_epoch >= epoch) {
      others.push_back(std::move(result));
      continue;
    }
    const std::string before = PathOf(result);
    result.acknowledged_epoch = 0;
    if (!folder_.empty() && rename(before.c_str(), PathOf(store_id, result.key).c_str()) != 0) {
      unwritten_.insert(PathOf(store_id, result.key));
    }
    kept_.push_back(std::move(result));
  }
  acknowledged_ = std::move(others);
}

void ResultBox::ForgetAfter(MonotonicTime forget_time) {
  for (KeptResult& result : acknowledged_) {
    result.forget_time = std::min(result.forget_time, forget_time);
  }
}

void ResultBox::Forget(MonotonicTime now) {
  while (!acknowledged_.empty() && acknowledged_.front().forget_time <= now) DropAcknowledged(0);
}

void ResultBox::DropAcknowledged(size_t index) {
  if (!folder_.empty()) unlink(PathOf(acknowledged_[index]).c_str());
  acknowledged_.erase(acknowledged_.begin() + static_cast<std::ptrdiff_t>(index));
}

}  // namespace meshwright::agent
