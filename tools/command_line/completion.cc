#include "tools/command_line/completion.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "planner/data/embedded.h"
#include "tools/command_line/declare.h"

namespace meshwright::command_line {

absl::Span<const planner::EmbeddedFile> CompletionScripts();

namespace {

// The position of the cursor among the words.
struct Cursor {
  const CLI::App* command = nullptr;
  const CLI::Option* value_of = nullptr;  // the option whose value comes next
  size_t arguments = 0;                   // words without dashes before it
};

const CLI::Option* FindOption(const CLI::App& command, absl::string_view word) {
  const std::string name(word.substr(0, word.find('=')));
  for (const CLI::Option* option : command.get_options()) {
    if (option->check_name(name)) return option;
  }
  return nullptr;
}

const CLI::App* FindCommand(const CLI::App& command, const std::string& word) {
  for (const CLI::App* inner : command.get_subcommands([](const CLI::App*) { return true; })) {
    if (inner->get_name() == word) return inner;
  }
  return nullptr;
}

bool IsFlag(absl::string_view word) { return absl::StartsWith(word, "-"); }

Cursor CursorBehind(const CLI::App& app, absl::Span<const std::string> words) {
  Cursor at{&app, nullptr, 0};
  for (const std::string& word : words) {
    if (at.value_of != nullptr) {
      at.value_of = nullptr;
    } else if (IsFlag(word)) {
      const CLI::Option* option = FindOption(*at.command, word);
      const bool open = option != nullptr && TakesValue(*option) && !absl::StrContains(word, "=");
      if (open) at.value_of = option;
    } else if (const CLI::App* inner = FindCommand(*at.command, word)) {
      at = {inner, nullptr, 0};
    } else {
      ++at.arguments;
    }
  }
  return at;
}

// Capitals are placeholders: "N", "FILE.csv...", "HOST:PORT".
bool IsPlaceholder(absl::string_view text) { return !text.empty() && absl::ascii_isupper(text[0]); }

void AddValues(const CLI::Option& option, const std::vector<std::string>& words,
               const Placeholders& placeholders, Completion& completion) {
  for (const absl::string_view value : absl::StrSplit(ValueText(option), '|', absl::SkipEmpty())) {
    if (absl::StartsWith(value, "FILE")) {
      completion.files = true;
    } else if (absl::StartsWith(value, "DIR")) {
      completion.folders = true;
    } else if (IsPlaceholder(value)) {
      for (std::string& name : placeholders(std::string(value), words)) {
        completion.candidates.push_back({std::move(name), ""});
      }
    } else {
      // "cpu:N" is completed up to the number.
      const size_t colon = value.find(':');
      const absl::string_view word =
          colon == absl::string_view::npos ? value : value.substr(0, colon + 1);
      completion.candidates.push_back({std::string(word), ""});
    }
  }
}

void AddFlags(const CLI::App& command, Completion& completion) {
  for (const CLI::Option* option : OptionsOf(command)) {
    if (option->get_positional()) continue;
    completion.candidates.push_back({NameOf(*option), option->get_description()});
  }
  completion.candidates.push_back({"--help", "Print this help message and exit"});
}

void AddWords(const Cursor& at, const std::vector<std::string>& words,
              const Placeholders& placeholders, Completion& completion) {
  for (const CLI::App* inner : at.command->get_subcommands([](const CLI::App*) { return true; })) {
    if (inner->get_group().empty()) continue;
    completion.candidates.push_back({inner->get_name(), inner->get_description()});
  }
  std::vector<const CLI::Option*> arguments;
  for (const CLI::Option* option : OptionsOf(*at.command)) {
    if (option->get_positional()) arguments.push_back(option);
  }
  if (at.arguments < arguments.size()) {
    AddValues(*arguments[at.arguments], words, placeholders, completion);
  }
}

void KeepThoseThatBegin(absl::string_view prefix, Completion& completion) {
  auto& candidates = completion.candidates;
  candidates.erase(std::remove_if(candidates.begin(), candidates.end(),
                                  [&](const Candidate& candidate) {
                                    return !absl::StartsWithIgnoreCase(candidate.text, prefix);
                                  }),
                   candidates.end());
}

}  // namespace

Completion Complete(const CLI::App& app, const std::vector<std::string>& words,
                    const Placeholders& placeholders) {
  Completion completion;
  if (words.empty()) return completion;
  const std::string& current = words.back();
  const Cursor at = CursorBehind(app, absl::MakeSpan(words).first(words.size() - 1));
  const size_t equals = current.find('=');
  if (at.value_of != nullptr) {
    AddValues(*at.value_of, words, placeholders, completion);
  } else if (IsFlag(current) && equals != std::string::npos) {
    const CLI::Option* option = FindOption(*at.command, current);
    if (option != nullptr) AddValues(*option, words, placeholders, completion);
    for (Candidate& candidate : completion.candidates) {
      candidate.text.insert(0, current, 0, equals + 1);
    }
  } else if (IsFlag(current)) {
    AddFlags(*at.command, completion);
  } else {
    AddWords(at, words, placeholders, completion);
    const bool nothing_else =
        completion.candidates.empty() && !completion.files && !completion.folders;
    if (nothing_else) AddFlags(*at.command, completion);
  }
  KeepThoseThatBegin(current, completion);
  return completion;
}

void PrintCompletion(const Completion& completion, std::ostream& out) {
  for (const Candidate& candidate : completion.candidates) {
    out << candidate.text << '\t' << candidate.description << '\n';
  }
  if (completion.files) out << ":files\n";
  if (completion.folders) out << ":folders\n";
}

std::vector<std::string> Shells() {
  std::vector<std::string> shells;
  for (const planner::EmbeddedFile& script : CompletionScripts()) shells.emplace_back(script.name);
  return shells;
}

std::string CompletionScript(const std::string& shell) {
  for (const planner::EmbeddedFile& script : CompletionScripts()) {
    if (script.name == shell) return std::string(script.text);
  }
  return "";
}

}  // namespace meshwright::command_line
