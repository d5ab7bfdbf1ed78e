// ShellWordReader cuts a shell script into commands of words, and expands the variables in them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "planner/interchange/config_entry.h"
#include "planner/interchange/shell_conditions.h"
#include "planner/interchange/shell_variables.h"
#include "planner/interchange/shell_word.h"

namespace meshwright::planner {

// Returns the index of SCRIPT among the words of a command that contains `bash -c SCRIPT`; 0 if the
// command contains no such words. Other words may stand before `bash`, and the flag may combine
// letters, as in -lc.
size_t ScriptPlace(const ShellCommand& command);

class ShellWordReader {
 public:
  // REQUIRES: all outlive the reader.
  ShellWordReader(const ConfigFile& file, ShellVariables& variables, ShellConditions& conditions)
      : file_(file), text_(file.text), variables_(variables), conditions_(conditions) {}

  bool AtEndOfFile() const { return at_ >= text_.size(); }
  // Reads the words up to a separator. A list NAME=( … ) sets its variable and is no command.
  absl::Status ReadCommand(ShellCommand& command);
  // Returns and passes "&&", "||", ";;" or a single character. After a line's end it also reads the
  // here-documents that begin on the next line.
  std::string TakeSeparator();
  // Returns the here-documents that were written to files.
  std::vector<ConfigFile> TakeDocuments() { return std::move(documents_); }

  absl::Status Error(std::string_view problem) const;

 private:
  // A word under construction. An unquoted expansion may split it into several.
  struct Word {
    ShellWord word;
    bool exists = false;
  };
  struct Document {
    std::string end;        // the line that ends it
    bool expands = true;    // whether its variables are expanded
    bool in_tabs = false;   // whether tabs before its lines are removed, <<-
    std::string path = {};  // empty: a command reads it
  };

  void SkipBlanks();
  void SkipLine();
  bool AtEnd() const;
  absl::Status ReadRedirection(std::string& path);
  void ReadDocument(const Document& document);
  std::string Expanded(std::string_view text);
  absl::Status ReadWord(ShellCommand& command);
  absl::Status ReadQuoted(ShellCommand& command, Word& word);
  absl::Status ReadList(ShellCommand& command, ShellWord name);
  void Push(ShellCommand& command, Word& word);
  void AppendSplit(const ShellWord& part, bool whole, ShellCommand& command, Word& word);
  absl::Status CheckSize(const std::string& word) const;

  // Read an expansion that begins with $ or `.
  std::vector<ShellWord> Expand();
  std::vector<ShellWord> SkipUntil(char end);
  std::vector<ShellWord> SkipParentheses();
  std::vector<ShellWord> Arithmetic();
  std::vector<ShellWord> Braced();

  const ConfigFile& file_;
  std::string_view text_;
  size_t at_ = 0;
  int lists_ = 0;  // lists that are open
  ShellVariables& variables_;
  ShellConditions& conditions_;
  std::vector<Document> pending_;  // here-documents of the current line
  std::vector<ConfigFile> documents_;
};

}  // namespace meshwright::planner
