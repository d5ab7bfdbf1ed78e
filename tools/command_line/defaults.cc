#include "tools/command_line/defaults.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/nearest.h"
#include "base/text/status_macros.h"
#include "tools/command_line/declare.h"

namespace meshwright::command_line {
namespace {

constexpr char kConfigVariable[] = "MESHWRIGHT_CONFIG";
constexpr size_t kMostConfigBytes = 1 << 20;

std::string KeyOf(const CLI::Option& option) {
  return option.get_lnames().empty() ? "" : option.get_lnames().front();
}

// Keys may have underscores, as in other TOML files.
std::string Dashed(std::string key) {
  std::replace(key.begin(), key.end(), '_', '-');
  return key;
}

std::string NotEmpty(const Environment& environment, const std::string& variable) {
  return environment ? environment(variable).value_or("") : "";
}

std::string ReasonOf(const CLI::Option& option, const CLI::Error& error) {
  const std::string text = error.what();
  const size_t must = text.find("must be");
  if (must != std::string::npos) return text.substr(must);
  return absl::StrCat("is not what --", KeyOf(option), " takes: ", ValueText(option));
}

absl::Status GiveDefault(CLI::Option& option, const std::vector<std::string>& values,
                         const std::string& source, DefaultSources& sources) {
  try {
    // CLI11 takes a list in brackets.
    option.default_val(values.size() == 1 ? values.front()
                                          : absl::StrCat("[", absl::StrJoin(values, ","), "]"));
  } catch (const CLI::Error& error) {
    return absl::InvalidArgumentError(
        absl::StrCat(source, " = ", absl::StrJoin(values, ", "), ": ", ReasonOf(option, error)));
  }
  option.required(false);
  sources[&option] = source;
  return absl::OkStatus();
}

// Returns the options that a key at `section` stands for: those of its commands or, at the top, the
// common ones.
std::vector<CLI::Option*> OptionsAt(CLI::App& section) {
  std::vector<CLI::Option*> options;
  for (CLI::App* command : CommandsOf(section)) {
    for (CLI::Option* option : OptionsOf(*command)) {
      const bool counts = section.get_parent() != nullptr || option->get_group() == kCommonFlags;
      if (counts && !KeyOf(*option).empty()) options.push_back(option);
    }
  }
  return options;
}

absl::StatusOr<CLI::App*> SectionOf(CLI::App& app, const std::vector<std::string>& path,
                                    const std::string& file) {
  CLI::App* at = &app;
  for (const std::string& name : path) {
    std::vector<std::string> known;
    CLI::App* found = nullptr;
    for (CLI::App* inner : at->get_subcommands([](CLI::App*) { return true; })) {
      known.push_back(inner->get_name());
      if (inner->get_name() == name) found = inner;
    }
    if (found == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(
          file, ": ",
          std::string(UnknownName("table", absl::StrJoin(path, "."), known).message())));
    }
    at = found;
  }
  return at;
}

absl::Status ApplyItem(CLI::App& app, const CLI::ConfigItem& item, const std::string& file,
                       DefaultSources& sources) {
  ASSIGN_OR_RETURN(CLI::App * section, SectionOf(app, item.parents, file));
  // CLI11 marks where a table begins and ends.
  if (item.name == "++" || item.name == "--") return absl::OkStatus();
  std::vector<std::string> known;
  bool used = false;
  for (CLI::Option* option : OptionsAt(*section)) {
    const std::string key = KeyOf(*option);
    if (key == Dashed(item.name)) {
      used = true;
      RETURN_IF_ERROR(
          GiveDefault(*option, item.inputs, absl::StrCat(file, ": ", item.fullname()), sources));
    } else if (std::find(known.begin(), known.end(), key) == known.end()) {
      known.push_back(key);
    }
  }
  if (used) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      file, ": ", std::string(UnknownName("key", item.fullname(), known).message()),
      item.parents.empty() ? "; flags of one command stand in a table of its name" : ""));
}

// The read is bounded, because the path may name a device without an end.
absl::StatusOr<std::string> ReadConfig(const std::string& file) {
  std::ifstream stream(file);
  if (!stream.good()) return absl::InvalidArgumentError(file + ": cannot be read");
  std::string text(kMostConfigBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(stream.gcount()));
  if (text.size() <= kMostConfigBytes) return text;
  return absl::InvalidArgumentError(
      absl::StrCat(file, ": a configuration file must be at most ", kMostConfigBytes, " bytes"));
}

absl::Status ApplyFile(CLI::App& app, const std::string& file, DefaultSources& sources) {
  ASSIGN_OR_RETURN(const std::string text, ReadConfig(file));
  std::istringstream stream(text);
  std::vector<CLI::ConfigItem> items;
  try {
    items = CLI::ConfigTOML().from_config(stream);
  } catch (const CLI::Error& error) {
    return absl::InvalidArgumentError(absl::StrCat(file, ": ", error.what()));
  }
  for (const CLI::ConfigItem& item : items) {
    RETURN_IF_ERROR(ApplyItem(app, item, file, sources));
  }
  return absl::OkStatus();
}

}  // namespace

std::string VariableOf(const CLI::Option& option) {
  std::string name = KeyOf(option);
  std::replace(name.begin(), name.end(), '-', '_');
  return absl::StrCat("MESHWRIGHT_", absl::AsciiStrToUpper(name));
}

std::string ConfigFile(const Environment& environment) {
  if (!environment) return "";
  if (const std::optional<std::string> named = environment(kConfigVariable)) return *named;
  std::string folder = NotEmpty(environment, "XDG_CONFIG_HOME");
  if (folder.empty()) {
    const std::string home = NotEmpty(environment, "HOME");
    if (home.empty()) return "";
    folder = home + "/.config";
  }
  const std::string file = folder + "/meshwright/config.toml";
  std::error_code error;
  return std::filesystem::exists(file, error) ? file : "";
}

absl::StatusOr<DefaultSources> ApplyDefaults(CLI::App& app, const Environment& environment) {
  DefaultSources sources;
  const std::string file = ConfigFile(environment);
  if (!file.empty()) RETURN_IF_ERROR(ApplyFile(app, file, sources));
  for (CLI::Option* option : OptionsAt(app)) {
    const std::string variable = VariableOf(*option);
    const std::string value = NotEmpty(environment, variable);
    if (value.empty()) continue;
    RETURN_IF_ERROR(GiveDefault(*option, {value}, variable, sources));
  }
  return sources;
}

}  // namespace meshwright::command_line
