#include "tools/cli/io/json_output.h"

namespace meshwright::cli {
namespace {

std::string Versioned(const nlohmann::ordered_json& object, int indent) {
  nlohmann::ordered_json versioned = {{"schema_version", kSchemaVersion}};
  versioned.update(object);
  return versioned.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

void PrintJson(const nlohmann::ordered_json& object, std::ostream& out) {
  out << Versioned(object, 2) << std::endl;
}

void PrintJsonLine(const nlohmann::ordered_json& object, std::ostream& out) {
  out << Versioned(object, -1) << std::endl;
}

}  // namespace meshwright::cli
