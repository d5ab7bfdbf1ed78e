// Complete() completes command lines for bash, zsh and fish. The shells' scripts know no commands:
// they pass the typed words to the program (`meshwright __complete WORD...`), which answers from
// its own command tree.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"

namespace meshwright::command_line {

// The first word of a command line that requests completions of the words after it.
inline constexpr char kCompleteWord[] = "__complete";

// Returns the names for which a placeholder in an option's values stands, such as names of presets,
// or no names if the placeholder stands for any text. `words` are the words before the cursor.
using Placeholders = std::function<std::vector<std::string>(const std::string& placeholder,
                                                            const std::vector<std::string>& words)>;

struct Candidate {
  std::string text;
  std::string description;
};

struct Completion {
  std::vector<Candidate> candidates;
  bool files = false;    // paths are candidates too
  bool folders = false;  // folders are candidates too
};

// Returns the completions of the last of `words`, which is incomplete and may be empty. `words` are
// the command-line arguments after the program's name.
Completion Complete(const CLI::App& app, const std::vector<std::string>& words,
                    const Placeholders& placeholders);

// Prints the completion in the form that the scripts read: a line "text<tab>description" for each
// candidate, and then ":files" and ":folders" if these are candidates too.
void PrintCompletion(const Completion& completion, std::ostream& out);

// Returns the names of the shells that have a script.
std::vector<std::string> Shells();
// Returns the script of a shell; empty if it has none.
std::string CompletionScript(const std::string& shell);

}  // namespace meshwright::command_line
