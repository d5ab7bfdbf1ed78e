// ObjectCache holds the Kubernetes objects of one kind, as lists, watches and a launcher's own
// calls show them. A launcher reads its own writes: an object that a call returned stays although a
// list or an event that the server sent before that call does not show it.
//
// Versions are compared as numbers, as Kubernetes allows for the objects of one kind since 1.35;
// all earlier API servers on etcd have such versions, too.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tools/cli/launcher/kubernetes_api.h"

namespace meshwright::cli {

class ObjectCache {
 public:
  // Replaces the objects by a list. Objects that Put() got with a later version than the list's
  // stay.
  void Replace(const ListedObjects& listed);
  void Apply(const WatchEvent& event);
  // Puts in an object that the server returned from a call.
  void Put(const nlohmann::json& object);

  // Returns the version from which a watch goes on; empty before the first Replace().
  const std::string& version() const { return version_; }
  // Returns the objects in the order of their names.
  std::vector<nlohmann::json> Objects() const;

 private:
  struct Entry {
    nlohmann::json object;
    uint64_t version = 0;
  };

  std::map<std::string, Entry> entries_;  // by name
  std::string version_;
};

}  // namespace meshwright::cli
