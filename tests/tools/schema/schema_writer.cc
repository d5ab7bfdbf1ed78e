#include "tests/tools/schema/schema_writer.h"

namespace meshwright::cli {

using nlohmann::ordered_json;

ordered_json OrNullSchema(ordered_json node) {
  if (node.contains("$ref")) return {{"anyOf", {{{"type", "null"}}, std::move(node)}}};
  if (!node.contains("type")) return node;
  const ordered_json type = node["type"];
  node["type"] = {type, "null"};
  if (node.contains("enum")) node["enum"].push_back(nullptr);
  return node;
}

ordered_json WithDescription(ordered_json node, std::string text) {
  ordered_json described = ordered_json::object();
  if (node.contains("type")) described["type"] = node["type"];
  described["description"] = std::move(text);
  described.update(node);
  return described;
}

std::vector<std::string> EnumeratorTexts(const google::protobuf::FieldDescriptor* field) {
  std::vector<std::string> texts;
  if (field == nullptr || field->enum_type() == nullptr) return texts;
  // The first stands for nothing.
  for (int i = 1; i < field->enum_type()->value_count(); ++i) {
    texts.push_back(
        wire::EnumeratorName(*field->enum_type(), field->enum_type()->value(i)->number()));
  }
  return texts;
}

}  // namespace meshwright::cli
