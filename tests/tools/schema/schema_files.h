// The files of docs/schema, as the fields of what commands print make them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace meshwright::cli {

struct SchemaFiles {
  std::map<std::string, nlohmann::ordered_json> by_name;  // without the files' ending
  std::vector<std::string> problems;  // fields that nothing describes, or two places; a line each
};

SchemaFiles WriteSchemaFiles();

}  // namespace meshwright::cli
