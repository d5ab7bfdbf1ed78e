#include "tools/command_line/typed_line.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/text/field_error.h"
#include "base/text/nearest.h"
#include "tools/command_line/declare.h"

namespace meshwright::command_line {
namespace {

constexpr absl::string_view kFormat = "--format";

std::string FieldName(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// Returns "memory_limit" for "memory_limit_bytes" and for "memory_limit_gib".
std::string WithoutUnit(absl::string_view field) {
  for (const absl::string_view unit : {"_bytes", "_gib", "_s"}) {
    if (absl::ConsumeSuffix(&field, unit)) break;
  }
  return std::string(field);
}

bool IsNamed(const CLI::Option& option, const std::string& field) {
  std::vector<std::string> names = option.get_lnames();
  if (option.get_positional()) names.push_back(NameOf(option));
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return FieldName(name) == field; });
}

bool IsNamedInOtherUnit(const CLI::Option& option, const std::string& field) {
  const auto& names = option.get_lnames();
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return WithoutUnit(FieldName(name)) == WithoutUnit(field);
  });
}

// Returns "a", "a and b", "a, b and c".
std::string Listed(const std::vector<std::string>& names) {
  if (names.size() < 2) return absl::StrJoin(names, "");
  return absl::StrCat(absl::StrJoin(names.begin(), names.end() - 1, ", "), " and ", names.back());
}

// `prefix` is put before each of the names.
std::string WithNearest(const std::string& problem, const std::string& word,
                        const std::vector<std::string>& known, const std::string& prefix = "") {
  const std::vector<std::string> nearest = NearestNames(word, known);
  if (nearest.empty()) return problem;
  return absl::StrCat(problem, "; nearest: ", prefix,
                      absl::StrJoin(nearest, absl::StrCat(", ", prefix)));
}

std::string UnknownFlag(const CLI::App& command, const std::string& word) {
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back(name);
  }
  const std::string flag = word.substr(0, word.find('='));
  return WithNearest(absl::StrCat(flag, " is not a flag of ", CommandPath(command)),
                     flag.substr(flag.find_first_not_of('-')), known, "--");
}

std::string UnknownWord(const CLI::App& command, const std::string& word) {
  std::vector<std::string> known;
  for (const CLI::App* inner : command.get_subcommands([](const CLI::App*) { return true; })) {
    if (!inner->get_group().empty()) known.push_back(inner->get_name());
  }
  if (known.empty()) return absl::StrCat(CommandPath(command), " does not expect '", word, "'");
  return WithNearest(absl::StrCat("there is no command '", CommandPath(command), " ", word, "'"),
                     word, known);
}

bool LooksLikeFlag(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && word.find_first_not_of('-') != std::string::npos;
}

// Returns "a whole number" or "a number", by the type of the option's value.
std::string NumberKind(const CLI::Option& option) {
  return absl::StartsWith(option.get_type_name(), "FLOAT") ? "a number" : "a whole number";
}

// Returns the text after the option's name, for a message about the value of the field `subject`.
std::string AboutValue(const CLI::Option& option, const std::string& subject,
                       absl::string_view message) {
  // A value in another unit differs from the typed text.
  if (!IsNamed(option, FieldName(subject))) {
    return absl::StrCat(" ", absl::StrJoin(option.results(), " "), ": ", message);
  }
  absl::string_view problem = message.substr(subject.size() + 3);
  // Nothing was typed, and the value that stands for nothing was refused.
  const bool missing = option.empty() && option.get_default_str().empty() && TakesValue(option);
  if (missing && (absl::ConsumePrefix(&problem, "0: ") || absl::ConsumePrefix(&problem, ": "))) {
    return absl::StrCat(" is required: ", problem);
  }
  if (!TakesValue(option)) absl::ConsumePrefix(&problem, "true");
  return absl::StrCat(absl::StartsWith(problem, ":") ? "" : " ", problem);
}

}  // namespace

std::string TypedLine::GivenName(const CLI::Option& option) const {
  for (const std::string& word : words_) {
    for (const std::string& name : option.get_snames()) {
      if (absl::StartsWith(word, "-" + name)) return "-" + name;
    }
    for (const std::string& name : option.get_lnames()) {
      if (word == "--" + name || absl::StartsWith(word, "--" + name + "=")) return "--" + name;
    }
  }
  const auto source = default_sources_.find(&option);
  return source == default_sources_.end() ? NameOf(option) : source->second;
}

const CLI::Option* TypedLine::OptionOf(std::string_view field) const {
  const std::string name = FieldName(std::string(field));
  if (name.empty()) return nullptr;
  const std::vector<const CLI::Option*> options = OptionsOf(ParsedCommand(app_));
  for (const auto matches : {IsNamed, IsNamedInOtherUnit}) {
    for (const CLI::Option* option : options) {
      if (matches(*option, name)) return option;
    }
  }
  return nullptr;
}

absl::Status TypedLine::InItsWords(const absl::Status& status) const {
  const absl::string_view message = status.message();
  const std::string field = FieldOf(status);
  // "field = value: problem"; the status itself may be about a field within the value.
  const size_t equals = message.find(" = ");
  const std::string subject(message.substr(0, equals == absl::string_view::npos ? 0 : equals));
  if (const CLI::Option* option = OptionOf(subject); option != nullptr) {
    const std::string said = GivenName(*option) + AboutValue(*option, subject, message);
    return WithField(absl::Status(status.code(), said), field);
  }
  const CLI::Option* option = OptionOf(field);
  if (option == nullptr) return status;
  const std::string given = GivenName(*option);
  if (absl::StrContains(message, given)) return status;
  return WithField(absl::Status(status.code(), absl::StrCat(given, ": ", message)), field);
}

std::string TypedLine::UnknownWords() const {
  const CLI::App& command = ParsedCommand(app_);
  std::vector<std::string> problems;
  for (const CLI::App* at = &app_;; at = at->get_subcommands().back()) {
    for (const std::string& word : at->remaining()) {
      if (word == "--") continue;
      if (LooksLikeFlag(word)) {
        problems.push_back(at == &command
                               ? UnknownFlag(command, word)
                               : absl::StrCat(word, " must stand behind ", CommandPath(command)));
      } else if (problems.empty()) {
        // A word after an unknown flag may be its value.
        return UnknownWord(*at, word);
      }
    }
    if (at == &command) return absl::StrJoin(problems, "; ");
  }
}

std::string TypedLine::MissingOptions() const {
  std::vector<std::string> missing;
  for (const CLI::Option* option : OptionsOf(ParsedCommand(app_))) {
    if (option->get_required() && option->empty()) missing.push_back(NameOf(*option));
  }
  if (missing.empty()) return "";
  return absl::StrCat(Listed(missing), missing.size() == 1 ? " is" : " are", " required");
}

std::string TypedLine::ExcludedOptions() const {
  std::vector<const CLI::Option*> given;
  for (const CLI::Option* option : OptionsOf(ParsedCommand(app_))) {
    if (option->empty()) continue;
    for (const CLI::Option* other : given) {
      if (option->get_excludes().count(const_cast<CLI::Option*>(other)) > 0) {
        return absl::StrCat(GivenName(*option), " can't go with ", GivenName(*other));
      }
    }
    given.push_back(option);
  }
  return "";
}

// CLI11's message names an option; the rest is in its own words.
std::string TypedLine::ProblemOf(const CLI::ParseError& error) const {
  std::string text = error.what();
  for (const CLI::Option* option : ParsedCommand(app_).get_options()) {
    const std::string name = option->get_name();
    const std::string given = GivenName(*option);
    if (absl::StartsWith(text, name + ": ")) {
      const std::string rest = text.substr(name.size() + 2);
      if (error.get_name() == "ValidationError") return absl::StrCat(given, " ", rest);
      if (error.get_name() == "ArgumentMismatch" && option->results().empty()) {
        return absl::StrCat(given, " needs a value: ", ValueText(*option));
      }
      if (error.get_name() == "ArgumentMismatch") {
        return absl::StrCat(given, " is given ", option->results().size(),
                            " times: ", absl::StrJoin(option->results(), ", "),
                            "; it takes one value");
      }
    }
    if (absl::StartsWith(text, absl::StrCat("Could not convert: ", name, " = "))) {
      return absl::StrCat(given, " ", absl::StrJoin(option->results(), " "), ": must be ",
                          NumberKind(*option));
    }
  }
  return text;
}

absl::Status TypedLine::Explain(const CLI::ParseError& error) const {
  std::string problem = UnknownWords();
  if (problem.empty() && error.get_name() == "RequiredError") problem = MissingOptions();
  if (problem.empty() && error.get_name() == "ExcludesError") problem = ExcludedOptions();
  if (problem.empty()) problem = ProblemOf(error);
  return absl::InvalidArgumentError(problem + kSeeHelp);
}

bool TypedLine::LacksCommand() const {
  return ParsedCommand(app_).get_require_subcommand_min() > 0 && app_.remaining_size(true) == 0;
}

bool TypedLine::WantsJson() const {
  std::string format;
  if (const CLI::Option* option = OptionOf("format")) format = option->get_default_str();
  for (size_t i = 0; i < words_.size(); ++i) {
    absl::string_view word = words_[i];
    if (word == kFormat && i + 1 < words_.size()) {
      format = words_[i + 1];
    } else if (absl::ConsumePrefix(&word, absl::StrCat(kFormat, "="))) {
      format = std::string(word);
    }
  }
  return absl::EqualsIgnoreCase(format, "json");
}

}  // namespace meshwright::command_line
