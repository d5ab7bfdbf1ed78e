// HelpFormatter makes the text of --help for a terminal of 80 columns: usage with what is required,
// what the command does, its arguments and flags with their defaults, its subcommands, notes and
// examples.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"

namespace meshwright::command_line {

class HelpFormatter final : public CLI::FormatterBase {
 public:
  // `name`: the command's name after those of its parents.
  std::string make_help(const CLI::App* command, std::string name,
                        CLI::AppFormatMode mode) const override;
};

// Returns "-o,--output FILE": an option as help lists it.
std::string OptionTerm(const CLI::Option& option);

// Returns an option's help text: its description, whether it is required, and its default.
std::string OptionText(const CLI::Option& option);

// Returns what the command requires and accepts, after its name; each piece belongs on one line.
std::vector<std::string> UsageOf(const CLI::App& command);

// Breaks a command line into lines of 80 columns that a shell reads as one.
std::string FormatCommandLine(const std::string& command_line);

}  // namespace meshwright::command_line
