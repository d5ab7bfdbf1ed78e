#include "tests/tools/json_schema.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace meshwright::cli {
namespace {

using nlohmann::json;

constexpr char kParts[] = "parts";
constexpr std::string_view kReference = "parts.json#/definitions/";

std::filesystem::path Folder() {
  const char* source = std::getenv("MESHWRIGHT_SOURCE_DIR");
  return std::filesystem::path(source == nullptr ? "." : source) / "docs/schema";
}

json ReadSchema(const std::string& name) {
  std::ifstream file(Folder() / (name + ".json"));
  return json::parse(file);
}

void AddAll(const json& from, json& to) {
  if (from.contains("properties")) to["properties"].update(from["properties"]);
  if (!from.contains("required")) return;
  for (const json& key : from["required"]) to["required"].push_back(key);
}

void Close(const json& parts, json& node) {
  if (node.is_object() && node.contains("$ref")) {
    const std::string reference = node["$ref"];
    node = parts["definitions"].at(reference.substr(kReference.size()));
  }
  if (node.is_object() || node.is_array()) {
    for (json& child : node) Close(parts, child);
  }
  if (!node.is_object()) return;
  if (node.contains("allOf")) {
    const json all = node["allOf"];
    node.erase("allOf");
    for (const json& part : all) AddAll(part, node);
  }
  if (node.contains("properties") && !node.contains("additionalProperties")) {
    node["additionalProperties"] = false;
  }
}

}  // namespace

std::vector<std::string> SchemaNames() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(Folder())) {
    const std::string name = file.path().stem().string();
    if (name != kParts) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

json ClosedSchema(const std::string& name) {
  json schema = ReadSchema(name);
  Close(ReadSchema(kParts), schema);
  return schema;
}

std::string SchemaProblems(const std::string& name, const json& document) {
  const json text = ClosedSchema(name);
  valijson::Schema schema;
  valijson::SchemaParser parser;
  parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(text), schema);
  valijson::ValidationResults results;
  valijson::Validator validator;
  if (validator.validate(schema, valijson::adapters::NlohmannJsonAdapter(document), &results)) {
    return "";
  }
  std::string problems;
  valijson::ValidationResults::Error error;
  while (results.popError(error)) {
    for (const std::string& part : error.context) problems += part;
    problems += ": " + error.description + "\n";
  }
  return problems;
}

}  // namespace meshwright::cli
