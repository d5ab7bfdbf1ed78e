#include "tools/cli/common/json_request.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/nearest.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "tools/cli/common/spec_source.h"
#include "tools/command_line/declare.h"
#include "tools/command_line/typed_line.h"

namespace meshwright::cli {
namespace {

using nlohmann::ordered_json;

constexpr char kFormatOption[] = "--format";

// The option that an argument stands for; null if the command has none of this name.
const CLI::Option* OptionNamed(const CLI::App& command, const std::string& argument) {
  for (const CLI::Option* option : command_line::OptionsOf(command)) {
    if (ArgumentName(*option) == argument) return option;
  }
  return nullptr;
}

absl::Status UnknownArgument(const CLI::App& command, const std::string& argument) {
  std::vector<std::string> known;
  for (const CLI::Option* option : command_line::OptionsOf(command)) {
    known.push_back(ArgumentName(*option));
  }
  const std::vector<std::string> nearest = NearestNames(argument, known);
  std::string problem = absl::StrCat(argument, " is not an argument of ", command.get_name());
  if (!nearest.empty()) absl::StrAppend(&problem, "; nearest: ", absl::StrJoin(nearest, ", "));
  return WithField(absl::InvalidArgumentError(problem), argument);
}

// The name that the JSON of a file gives its subject; otherwise the argument's.
std::string NameOfText(const std::string& argument, const ordered_json& file) {
  for (const char* key : {"name", "_name_or_path"}) {
    const auto name = file.find(key);
    if (name != file.end() && name->is_string() && !name->get_ref<const std::string&>().empty()) {
      return name->get<std::string>();
    }
  }
  return argument;
}

absl::StatusOr<std::string> TextOf(const std::string& argument, const ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() || value.is_boolean()) return value.dump();
  return FieldError(argument, ShowJson(value), "must be a text or a number");
}

// Appends the words of one option and its value.
class WordWriter {
 public:
  explicit WordWriter(CommandFiles& files) : files_(files) {}

  absl::Status Add(const std::string& argument, const CLI::Option& option,
                   const ordered_json& value) {
    if (value.is_null() || value == false) return absl::OkStatus();
    if (!command_line::TakesValue(option)) {
      if (value != true) return FieldError(argument, ShowJson(value), "must be true or false");
      options_.push_back(command_line::NameOf(option));
      return absl::OkStatus();
    }
    if (value.is_object()) {
      files_.Supply(argument, {NameOfText(argument, value), value.dump()});
      AddValue(option, std::string(kStandardInput));
      return absl::OkStatus();
    }
    if (!value.is_array()) {
      ASSIGN_OR_RETURN(const std::string text, TextOf(argument, value));
      AddValue(option, text);
      return absl::OkStatus();
    }
    return AddList(argument, option, value);
  }

  // Words without a flag come last, where none of them is taken for one.
  std::vector<std::string> Words(std::vector<std::string> words) && {
    words.insert(words.end(), options_.begin(), options_.end());
    if (!positionals_.empty()) words.push_back("--");
    words.insert(words.end(), positionals_.begin(), positionals_.end());
    return words;
  }

 private:
  void AddValue(const CLI::Option& option, const std::string& value) {
    if (option.get_lnames().empty()) {
      positionals_.push_back(value);
    } else {
      options_.push_back(absl::StrCat(command_line::NameOf(option), "=", value));
    }
  }

  absl::Status AddList(const std::string& argument, const CLI::Option& option,
                       const ordered_json& list) {
    std::vector<std::string> texts;
    for (const ordered_json& value : list) {
      ASSIGN_OR_RETURN(texts.emplace_back(), TextOf(argument, value));
    }
    const bool repeats = option.get_items_expected_max() > 1 ||
                         option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
    if (repeats) {
      for (const std::string& text : texts) AddValue(option, text);
    } else {
      AddValue(option, absl::StrJoin(texts, ","));
    }
    return absl::OkStatus();
  }

  CommandFiles& files_;
  std::vector<std::string> options_;
  std::vector<std::string> positionals_;
};

}  // namespace

std::string ArgumentName(const CLI::Option& option) {
  const std::string name = command_line::NameOf(option);
  return absl::StrReplaceAll(absl::StripPrefix(name, "--"), {{"-", "_"}});
}

absl::StatusOr<JsonRequest> ReadJsonRequest(std::string_view text) {
  ASSIGN_OR_RETURN(ordered_json json, ParseOrderedJson("request", text));
  if (!json.is_object()) return FieldError("request", ShowJson(json), "must be an object");
  JsonRequest request;
  for (auto& [key, value] : json.items()) {
    if (key == "command" && value.is_string()) {
      request.command = value.get<std::string>();
    } else if (key == "arguments" && value.is_object()) {
      request.arguments = std::move(value);
    } else if (key == "keep" && value.is_array()) {
      for (const ordered_json& flag : value) {
        ASSIGN_OR_RETURN(request.keep.emplace_back(), TextOf(key, flag));
      }
    } else {
      return FieldError(key, ShowJson(value),
                        "must be the text `command`, the object `arguments` or the list `keep`");
    }
  }
  return request;
}

absl::StatusOr<CLI::App*> JsonCommand(CLI::App& app, std::string_view name) {
  CLI::App* command = &app;
  for (const absl::string_view word : absl::StrSplit(AbslView(name), ' ', absl::SkipEmpty())) {
    std::vector<std::string> known;
    CLI::App* found = nullptr;
    for (CLI::App* inner : command->get_subcommands([](CLI::App*) { return true; })) {
      known.push_back(inner->get_name());
      if (known.back() == word) found = inner;
    }
    if (found == nullptr) return WithField(UnknownName("command", name, known), "command");
    command = found;
  }
  if (command->get_option_no_throw(kFormatOption) == nullptr) {
    return FieldError("command", name, "must be a command that prints JSON");
  }
  return command;
}

void AddDefaults(const ordered_json& defaults, const CLI::App& command, JsonRequest& request) {
  for (const auto& [argument, value] : defaults.items()) {
    if (request.arguments.contains(argument) || OptionNamed(command, argument) == nullptr) continue;
    request.arguments[argument] = value;
  }
}

absl::StatusOr<std::vector<std::string>> WordsOf(const JsonRequest& request,
                                                 const CLI::App& command, CommandFiles& files) {
  WordWriter writer(files);
  for (const auto& [argument, value] : request.arguments.items()) {
    const CLI::Option* option = OptionNamed(command, argument);
    if (option == nullptr) return UnknownArgument(command, argument);
    RETURN_IF_ERROR(writer.Add(argument, *option, value));
  }
  for (const std::string& flag : request.keep) files.Keep(flag);
  std::vector<std::string> words = absl::StrSplit(request.command, ' ', absl::SkipEmpty());
  words.push_back(absl::StrCat(kFormatOption, "=json"));
  return std::move(writer).Words(std::move(words));
}

std::string InArgumentNames(std::string message, const CLI::App& command) {
  absl::string_view said = message;
  absl::ConsumeSuffix(&said, command_line::kSeeHelp);
  message = std::string(said);
  std::vector<std::string> names;
  for (const CLI::Option* option : command_line::OptionsOf(command)) {
    if (!option->get_lnames().empty()) names.push_back(command_line::NameOf(*option));
  }
  // --global-batch-tokens before --global-batch, which it begins with.
  std::sort(names.begin(), names.end(), std::greater<>());
  for (const std::string& name : names) {
    message =
        absl::StrReplaceAll(message, {{name, absl::StrReplaceAll(name.substr(2), {{"-", "_"}})}});
  }
  return message;
}

}  // namespace meshwright::cli
