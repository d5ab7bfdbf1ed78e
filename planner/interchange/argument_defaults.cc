#include "planner/interchange/argument_defaults.h"

#include <cassert>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "base/text/json_text.h"
#include "base/text/string_view.h"
#include "planner/data/embedded.h"

namespace meshwright::planner {
namespace {

// Returns a value as a launch line writes it: a list's elements with blanks between them, an
// enumerator's name without its type, a tensor's format as Megatron-LM spells it.
std::string PlainValue(std::string_view printed) {
  if (printed == "torch.float32") return "fp32";
  if (printed == "torch.bfloat16") return "bf16";
  if (printed == "torch.float16") return "fp16";
  absl::string_view value = AbslView(printed);
  if (value.size() >= 2 && value.front() == '[' && value.back() == ']') {
    value = value.substr(1, value.size() - 2);
    return absl::StrReplaceAll(value, {{"'", ""}, {"\"", ""}, {", ", " "}, {",", " "}});
  }
  if (value.size() >= 2 && (value[0] == '\'' || value[0] == '"') && value.back() == value[0]) {
    return std::string(value.substr(1, value.size() - 2));
  }
  // AttnBackend.flash
  const size_t dot = value.find('.');
  if (dot != absl::string_view::npos && dot > 0 &&
      absl::ascii_isupper(static_cast<unsigned char>(value[0])) &&
      value.find_first_of(" .,:=({", dot + 1) == absl::string_view::npos) {
    value.remove_prefix(dot + 1);
  }
  return std::string(value);
}

bool IsOff(std::string_view value) {
  return value == "None" || value == "False" || value == "null" || value == "false";
}

bool IsOn(std::string_view value) { return value == "True" || value == "true"; }

}  // namespace

const ArgumentDefaults& ArgumentDefaults::Of(std::string_view framework) {
  static const auto* all = [] {
    auto* tables = new std::map<std::string, ArgumentDefaults>();
    for (const EmbeddedFile& file : EmbeddedArguments()) {
      tables->emplace(std::string(file.name), ArgumentDefaults(file.text));
    }
    return tables;
  }();
  const auto found = all->find(std::string(framework));
  assert(found != all->end());
  return found->second;
}

ArgumentDefaults::ArgumentDefaults(std::string_view json) {
  const nlohmann::json table = ParseJson("arguments", json).value();
  release_ = table.at("release").get<std::string>();
  for (const auto& name : table.at("computed")) computed_.insert(name.get<std::string>());
  for (const auto& [listed, row] : table.at("arguments").items()) {
    arguments_[listed] = {row.at(0).get<std::string>(), row.at(1).get<std::string>(), ""};
  }
  for (const auto& [listed, flag] : table.at("off").items()) {
    arguments_[listed].off = flag.get<std::string>();
  }
}

ConfigEntry ArgumentDefaults::EntryOf(std::string_view listed, std::string_view value) const {
  const std::string name(listed);
  const auto found = arguments_.find(name);
  const bool is_known = found != arguments_.end();
  const bool is_flag = is_known && absl::StrContains(found->second.name + found->second.off, "--");
  ConfigEntry entry = {is_known && !found->second.name.empty() ? found->second.name : name,
                       PlainValue(value)};
  if (computed_.count(name) != 0) {
    entry.given = "the program computes it";
  } else if (is_known && PlainValue(found->second.default_text) == PlainValue(value)) {
    entry.given = absl::StrCat("the default of release ", release_);
  } else if (is_known && IsOff(value) && !found->second.off.empty()) {
    return {found->second.off, ""};
  } else if (IsOff(value)) {
    entry.given = "is off";
  }
  if (is_flag && IsOn(value)) entry.value.clear();
  return entry;
}

}  // namespace meshwright::planner
