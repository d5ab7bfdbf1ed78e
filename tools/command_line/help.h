// HelpFormatter makes the text of --help for a terminal of 80 columns: the usage with all required
// arguments and flags, what the command does, its arguments and flags with their defaults, its
// subcommands, notes and examples.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"

namespace meshwright::command_line {

class HelpFormatter final : public CLI::FormatterBase {
 public:
  // Returns the text of --help. `name` is the command's name after those of its parents.
  std::string make_help(const CLI::App* command, std::string name,
                        CLI::AppFormatMode mode) const override;
};

// Returns an option as help lists it: "-o,--output FILE".
std::string OptionTerm(const CLI::Option& option);

// Returns an option's help text: its description, whether it is required, and its default.
std::string OptionText(const CLI::Option& option);

// Returns the pieces of the usage after the command's name: its arguments, its required flags, and
// "[FLAGS]" or "COMMAND". A line may be broken between pieces, not inside one.
std::vector<std::string> UsageOf(const CLI::App& command);

// Breaks a command line into lines of at most 80 columns. A shell reads them as one line.
std::string FormatCommandLine(const std::string& command_line);

}  // namespace meshwright::command_line
