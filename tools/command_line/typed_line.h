// A command line against the tree of commands: what was typed for an option, which option a field
// of a request came from, and what is wrong with a line that can't be parsed.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"

namespace meshwright::command_line {

// Where the defaults of options came from that no command line gave: "MESHWRIGHT_SERVER", "server
// in config.toml".
using DefaultSources = std::map<const CLI::Option*, std::string>;

class TypedLine {
 public:
  // `words` are those after the program's name. The tree must outlive this.
  TypedLine(const CLI::App& app, std::vector<std::string> words)
      : app_(app), words_(std::move(words)) {}

  void set_default_sources(DefaultSources sources) { default_sources_ = std::move(sources); }

  // The option as its user gave it: "-o" or "--output", the variable or the file's key that gave
  // its default, or its first name.
  std::string GivenName(const CLI::Option& option) const;

  // `status` in the words of the command line: where it is about a field that an option of the
  // command stands for, it begins with that option. A field is an option's long name with
  // underscores for dashes; one in bytes is also that of an option in GiB.
  absl::Status InItsWords(const absl::Status& status) const;

  // What is wrong with a line that CLI11 refused, after it did: first words and flags that are not
  // known, with the nearest that are, then all that is missing, then `error` itself.
  absl::Status Explain(const CLI::ParseError& error) const;

  // Whether a command was named that needs another one behind it, with nothing behind it.
  bool LacksCommand() const;

  // Whether the user asked for JSON, by --format anywhere or by its default, even where the line
  // can't be parsed.
  bool WantsJson() const;

 private:
  const CLI::Option* OptionOf(std::string_view field) const;
  std::string UnknownWords() const;
  std::string MissingOptions() const;
  std::string ExcludedOptions() const;
  std::string ProblemOf(const CLI::ParseError& error) const;

  const CLI::App& app_;
  std::vector<std::string> words_;
  DefaultSources default_sources_;
};

}  // namespace meshwright::command_line
