#include "executor/agent/known_epochs.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/agent/durable_file.h"
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
  std::string text;
  for (const KnownEpoch& one : all_) {
    absl::StrAppend(&text, one.store_id, " ", one.epoch, " ", one.address, "\n");
  }
  return WriteDurably(path_, text);
}

}  // namespace meshwright::agent
