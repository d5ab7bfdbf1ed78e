// WriteSchemaFiles() writes the files of docs/schema from the fields of the structs that commands
// print.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace meshwright::cli {

struct SchemaFiles {
  std::map<std::string, nlohmann::ordered_json> by_name;  // by file name without extension
  std::vector<std::string> problems;  // fields with no description or with two, one per line
};

SchemaFiles WriteSchemaFiles();

}  // namespace meshwright::cli
