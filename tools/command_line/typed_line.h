// TypedLine relates a command line to the command tree: how an option was typed, which option a
// field of a request came from, and what is wrong with a line that can't be parsed.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"

namespace meshwright::command_line {

// Sources of the defaults of options that were not typed: "MESHWRIGHT_SERVER", "server in
// config.toml".
using DefaultSources = std::map<const CLI::Option*, std::string>;

class TypedLine {
 public:
  // `words` are those after the program's name. The tree must outlive this.
  TypedLine(const CLI::App& app, std::vector<std::string> words)
      : app_(app), words_(std::move(words)) {}

  void set_default_sources(DefaultSources sources) { default_sources_ = std::move(sources); }

  // Returns the option as its user gave it: "-o" or "--output", the variable or the file's key that
  // gave its default, or its first name.
  std::string GivenName(const CLI::Option& option) const;

  // Rewrites `status` in terms of the command line: where it is about a field that an option of the
  // command stands for, the message begins with that option. A field is an option's long name with
  // underscores for dashes; a field in bytes also belongs to an option in GiB.
  absl::Status InItsWords(const absl::Status& status) const;

  // Returns what is wrong with a line that CLI11 refused: first unknown words and flags, with the
  // nearest known ones, then everything that is missing, then `error` itself.
  absl::Status Explain(const CLI::ParseError& error) const;

  // Whether the line ends at a command that needs a subcommand.
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
