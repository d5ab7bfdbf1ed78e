// TypedLine relates a command line to the command tree. It says how an option was typed, from which
// option a field of a request came, and what is wrong with a line that can't be parsed.
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

// The end of every message of TypedLine::Explain().
inline constexpr char kSeeHelp[] = " (--help shows what is accepted)";

class TypedLine {
 public:
  // `words` are the command-line arguments after the program's name. REQUIRES: `app` outlives the
  // TypedLine.
  TypedLine(const CLI::App& app, std::vector<std::string> words)
      : app_(app), words_(std::move(words)) {}

  void set_default_sources(DefaultSources sources) { default_sources_ = std::move(sources); }

  // Returns the option as its user gave it: "-o" or "--output" if it was typed; otherwise the
  // variable or the file's key that gave its default; otherwise its name (NameOf()).
  std::string GivenName(const CLI::Option& option) const;

  // Returns `status` in terms of the command line: if it names a field that belongs to an option of
  // the command, the message begins with that option. A field belongs to the option that has the
  // same long name, with dashes for underscores. The units at the end may differ, as in
  // memory_limit_bytes and --memory-limit-gib.
  absl::Status InItsWords(const absl::Status& status) const;

  // Returns InvalidArgument, which says what is wrong with a line that CLI11 refused. The message
  // names unknown words and flags, with the nearest known words and flags. If the line has no
  // unknown words or flags, the message names all missing options, or two options that exclude each
  // other. In all other cases it repeats `error`.
  absl::Status Explain(const CLI::ParseError& error) const;

  // Returns whether the line ends at a command that needs a subcommand.
  bool LacksCommand() const;

  // Returns whether the user requested JSON, by --format anywhere in the line or by its default.
  // The line need not be valid.
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
