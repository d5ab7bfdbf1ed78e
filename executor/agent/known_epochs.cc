#include "executor/agent/known_epochs.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/agent/result_box.h"

namespace meshwright::agent {
namespace {

constexpr size_t kMost = 64;

}  // namespace

KnownEpochs::KnownEpochs(std::string path) : path_(std::move(path)) {
  std::ifstream file(path_);
  for (std::string line; std::getline(file, line) && all_.size() < kMost;) {
    std::istringstream words(line);
    KnownEpoch known;
    words >> known.store_id >> known.epoch >> known.address;
    if (words && IsStoreId(known.store_id) && known.epoch > 0) all_.push_back(std::move(known));
  }
}

KnownEpoch KnownEpochs::Of(const std::string& store_id) const {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const KnownEpoch& known) {
    return known.store_id == store_id;
  });
  return found == all_.end() ? KnownEpoch{store_id, 0, ""} : *found;
}

absl::Status KnownEpochs::Note(const KnownEpoch& met) {
  const KnownEpoch known = Of(met.store_id);
  if (met.epoch < known.epoch) return absl::OkStatus();
  const bool is_new = met.epoch != known.epoch || met.address != known.address;
  if (!is_new) return absl::OkStatus();
  std::erase_if(all_, [&](const KnownEpoch& one) { return one.store_id == met.store_id; });
  all_.push_back(met);
  if (all_.size() > kMost) all_.erase(all_.begin());
  if (path_.empty()) return absl::OkStatus();
  // The file gets its final name only once complete.
  const std::string temporary = path_ + ".tmp";
  std::ofstream file(temporary);
  for (const KnownEpoch& one : all_) {
    file << one.store_id << ' ' << one.epoch << ' ' << one.address << '\n';
  }
  file.close();
  if (file && std::rename(temporary.c_str(), path_.c_str()) == 0) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("can't write ", path_, ": ", std::strerror(errno)));
}

}  // namespace meshwright::agent
