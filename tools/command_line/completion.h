// What a shell may put where the cursor stands. The scripts for bash, zsh and fish hold no names:
// they hand what was typed to the program (`meshwright __complete WORD...`), which answers from its
// own tree of commands.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"

namespace meshwright::command_line {

// The first word of a command line that asks for completions of the words behind it.
inline constexpr char kCompleteWord[] = "__complete";

// The names that a placeholder in an option's values stands for, such as those of presets; none for
// one that stands for anything. `words` are those before the cursor.
using Placeholders = std::function<std::vector<std::string>(const std::string& placeholder,
                                                            const std::vector<std::string>& words)>;

struct Candidate {
  std::string text;
  std::string description;
};

struct Completion {
  std::vector<Candidate> candidates;
  bool files = false;    // paths too
  bool folders = false;  // folders too
};

// `words` are those after the program's name, the last one as far as it is typed, or empty.
Completion Complete(const CLI::App& app, const std::vector<std::string>& words,
                    const Placeholders& placeholders);

// As the scripts read it: "text<tab>description", and ":files" or ":folders" in a line of its own.
void PrintCompletion(const Completion& completion, std::ostream& out);

// The shells that there is a script for, and the script.
std::vector<std::string> Shells();
std::string CompletionScript(const std::string& shell);

}  // namespace meshwright::command_line
