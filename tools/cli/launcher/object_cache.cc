#include "tools/cli/launcher/object_cache.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "tools/cli/launcher/kubernetes_json.h"

namespace meshwright::cli {
namespace {

using nlohmann::json;

uint64_t NumberOf(const std::string& version) {
  uint64_t number = 0;
  return absl::SimpleAtoi(version, &number) ? number : 0;
}

uint64_t VersionOf(const json& object) {
  return NumberOf(TextAt(object, "metadata", "resourceVersion"));
}

}  // namespace

void ObjectCache::Replace(const ListedObjects& listed) {
  const uint64_t of_list = NumberOf(listed.version);
  std::map<std::string, Entry> entries;
  for (const json& object : listed.objects) {
    entries[TextAt(object, "metadata", "name")] = {object, VersionOf(object)};
  }
  for (auto& [name, entry] : entries_) {
    if (entry.version > of_list) entries[name] = std::move(entry);
  }
  entries_ = std::move(entries);
  version_ = listed.version;
}

void ObjectCache::Apply(const WatchEvent& event) {
  if (const std::string version = TextAt(event.object, "metadata", "resourceVersion");
      !version.empty()) {
    version_ = version;
  }
  if (event.kind == WatchEvent::Kind::kPut) return Put(event.object);
  if (event.kind != WatchEvent::Kind::kDeleted) return;
  const auto found = entries_.find(TextAt(event.object, "metadata", "name"));
  if (found != entries_.end() && found->second.version <= VersionOf(event.object)) {
    entries_.erase(found);
  }
}

void ObjectCache::Put(const json& object) {
  const std::string name = TextAt(object, "metadata", "name");
  const uint64_t version = VersionOf(object);
  if (name.empty()) return;
  Entry& entry = entries_[name];
  if (version >= entry.version) entry = {object, version};
}

std::vector<json> ObjectCache::Objects() const {
  std::vector<json> objects;
  objects.reserve(entries_.size());
  for (const auto& [name, entry] : entries_) objects.push_back(entry.object);
  return objects;
}

}  // namespace meshwright::cli
