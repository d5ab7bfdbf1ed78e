#include "tools/cli/mcp/mcp_tools.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/nearest.h"
#include "base/text/string_view.h"
#include "planner/data/embedded.h"
#include "tools/cli/common/json_request.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {

// Files of docs/schema, by stem (tools/cli/CMakeLists.txt).
absl::Span<const planner::EmbeddedFile> EmbeddedAnswerSchemas();

namespace {

using nlohmann::ordered_json;

constexpr char kPartsPrefix[] = "parts.json#/definitions/";
constexpr char kOwnPrefix[] = "#/definitions/";

constexpr McpTool kMcpTools[] = {
    {.name = "recommend",
     .command = "recommend",
     .schema = "recommend",
     .hidden = {"tokens", "within", "price"}},
    {.name = "estimate", .command = "estimate", .schema = "estimate"},
    {.name = "compare", .command = "compare", .schema = "compare", .hidden = {"plot"}},
    {.name = "fit", .command = "fit", .schema = "fit", .hidden = {"plot"}},
    {.name = "history", .command = "history", .schema = "history", .needs_server = true},
    {.name = "sweep_show",
     .command = "sweep show",
     .schema = "sweep_show",
     .hidden = {"plot", "why"},
     .needs_server = true},
    {.name = "sweep_start",
     .command = "sweep start",
     .schema = "sweep",
     .hidden = {"watch"},
     .needs_server = true,
     .changes_sweeps = true},
    {.name = "sweep_cancel",
     .command = "sweep cancel",
     .schema = "sweep",
     .needs_server = true,
     .changes_sweeps = true},
};

std::vector<const CLI::Option*> OptionsOf(const McpTool& tool, const CLI::App& command) {
  std::vector<const CLI::Option*> options;
  for (const CLI::Option* option : command_line::OptionsOf(command)) {
    if (option->get_group() == command_line::kCommonFlags) continue;
    const std::string name = ArgumentName(*option);
    const bool hidden =
        std::find(tool.hidden.begin(), tool.hidden.end(), name) != tool.hidden.end();
    if (!hidden) options.push_back(option);
  }
  return options;
}

// The devices of one answer; a range of them would make another.
bool IsDevices(const CLI::Option& option) { return ArgumentName(option) == "gpus"; }

ordered_json TypeOf(const CLI::Option& option) {
  const std::string name = ArgumentName(option);
  if (!command_line::TakesValue(option)) return {{"type", "boolean"}};
  if (IsDevices(option)) return {{"type", "integer"}};
  if (name == "model" || name == "cluster" || name == "framework") {
    return {{"type", {"string", "object"}}};
  }
  if (option.get_items_expected_max() > 1) {
    return {{"type", "array"}, {"items", {{"type", "string"}}}};
  }
  const std::string type = option.get_type_name();
  const bool is_number = absl::StrContains(type, "INT") || absl::StrContains(type, "FLOAT");
  return {{"type", is_number ? ordered_json({"number", "string"}) : ordered_json("string")}};
}

ordered_json InputSchema(const McpTool& tool, const CLI::App& command) {
  ordered_json properties = ordered_json::object();
  ordered_json required = ordered_json::array();
  for (const CLI::Option* option : OptionsOf(tool, command)) {
    const std::string name = ArgumentName(*option);
    ordered_json property = TypeOf(*option);
    property["description"] = InArgumentNames(option->get_description(), command);
    properties[name] = std::move(property);
    if (option->get_required()) required.push_back(name);
  }
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

ordered_json SchemaFile(std::string_view stem) {
  for (const planner::EmbeddedFile& file : EmbeddedAnswerSchemas()) {
    if (file.name == stem) return *ParseOrderedJson("schema", file.text);
  }
  return ordered_json::object();
}

// Lets references to parts.json point into the schema itself, and adds the names of those parts.
void TakeReferences(ordered_json& node, std::set<std::string>& names) {
  if (node.is_object() && node.contains("$ref")) {
    std::string text = node["$ref"].get<std::string>();
    absl::string_view part = text;
    if (absl::ConsumePrefix(&part, kPartsPrefix) || absl::ConsumePrefix(&part, kOwnPrefix)) {
      names.insert(std::string(part));
      node["$ref"] = absl::StrCat(kOwnPrefix, part);
    }
  }
  if (!node.is_structured()) return;
  for (ordered_json& inner : node) TakeReferences(inner, names);
}

// The schema of the answer with the parts that it refers to.
ordered_json OutputSchema(const McpTool& tool) {
  ordered_json schema = SchemaFile(tool.schema);
  const ordered_json parts = SchemaFile("parts");
  std::set<std::string> wanted;
  TakeReferences(schema, wanted);
  ordered_json definitions = ordered_json::object();
  while (definitions.size() < wanted.size()) {
    for (const std::string& name : std::set<std::string>(wanted)) {
      if (definitions.contains(name)) continue;
      ordered_json definition = parts["definitions"].value(name, ordered_json::object());
      TakeReferences(definition, wanted);
      definitions[name] = std::move(definition);
    }
  }
  if (!definitions.empty()) schema["definitions"] = std::move(definitions);
  return schema;
}

}  // namespace

std::vector<McpTool> McpTools(bool has_server, bool may_change_sweeps) {
  std::vector<McpTool> tools;
  for (const McpTool& tool : kMcpTools) {
    if (tool.needs_server && !has_server) continue;
    if (tool.changes_sweeps && !may_change_sweeps) continue;
    tools.push_back(tool);
  }
  return tools;
}

ordered_json McpListing(const McpTool& tool, const CLI::App& command) {
  return {{"name", tool.name},
          {"description", command.get_description()},
          {"inputSchema", InputSchema(tool, command)},
          {"outputSchema", OutputSchema(tool)},
          {"annotations",
           {{"readOnlyHint", !tool.changes_sweeps}, {"openWorldHint", tool.needs_server}}}};
}

absl::Status CheckMcpArguments(const McpTool& tool, const CLI::App& command,
                               const ordered_json& arguments) {
  std::vector<std::string> known;
  for (const CLI::Option* option : OptionsOf(tool, command)) {
    known.push_back(ArgumentName(*option));
    const auto value = arguments.find(known.back());
    if (value == arguments.end()) continue;
    if (IsDevices(*option) && !value->is_number()) {
      return FieldError(known.back(), ShowJson(*value), "must be a whole number");
    }
  }
  for (const auto& [name, value] : arguments.items()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::vector<std::string> nearest = NearestNames(name, known);
    return WithField(absl::InvalidArgumentError(absl::StrCat(
                         name, " is not an argument of ", AbslView(tool.name),
                         nearest.empty() ? "" : "; nearest: ", absl::StrJoin(nearest, ", "))),
                     name);
  }
  return absl::OkStatus();
}

}  // namespace meshwright::cli
