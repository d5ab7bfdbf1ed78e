// Shell completion. The scripts for bash, zsh and fish hold no names: they pass what was typed to
// the program (`meshwright __complete WORD...`), which answers from its own command tree.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"

namespace meshwright::command_line {

// The first word of a command line that requests completions of the words after it.
inline constexpr char kCompleteWord[] = "__complete";

// Returns the names that a placeholder in an option's values stands for, such as those of presets;
// none for a placeholder for anything. `words` are those before the cursor.
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

// Returns the completions. `words` are those after the program's name; the last one is incomplete,
// and may be empty.
Completion Complete(const CLI::App& app, const std::vector<std::string>& words,
                    const Placeholders& placeholders);

// Prints the form that the scripts read: "text<tab>description", and ":files" or ":folders" on a
// line of its own.
void PrintCompletion(const Completion& completion, std::ostream& out);

// The shells that have a script, and the script of one.
std::vector<std::string> Shells();
std::string CompletionScript(const std::string& shell);

}  // namespace meshwright::command_line
