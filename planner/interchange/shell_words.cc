#include "planner/interchange/shell_words.h"

#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"

namespace meshwright::planner {
namespace {

// The most bytes of a word, and the most lists inside each other.
constexpr size_t kMostWordBytes = size_t{1} << 16;
constexpr int kMostLists = 4;

bool IsShell(absl::string_view word) {
  const absl::string_view name = word.substr(word.rfind('/') + 1);
  return name == "bash" || name == "sh";
}

// Returns whether the words at `place` are `bash -c`.
bool IsShellWithScript(const ShellCommand& command, size_t place) {
  const std::string& flag = command[place + 1].text;
  return IsShell(command[place].text) && flag.size() >= 2 && flag[0] == '-' && flag[1] != '-' &&
         flag.back() == 'c';
}

// Returns whether the next word of the command is the script of `bash -c`.
bool IsBeforeScript(const ShellCommand& command) {
  return command.size() >= 2 && IsShellWithScript(command, command.size() - 2);
}

// Returns an unknown part of a script as the script would write it.
std::string Written(const ShellWord& part) {
  if (part.known()) return part.text;
  return IsShellName(part.unknown) ? absl::StrCat("${", part.unknown, "}") : "$()";
}

}  // namespace

size_t ScriptPlace(const ShellCommand& command) {
  for (size_t i = 0; i + 2 < command.size(); ++i) {
    if (IsShellWithScript(command, i)) return i + 2;
  }
  return 0;
}

absl::Status ShellWordReader::Error(std::string_view problem) const {
  size_t line = 1;
  for (size_t i = 0; i < at_ && i < text_.size(); ++i) line += text_[i] == '\n' ? 1 : 0;
  return FieldError("file", absl::StrCat(file_.path, ":", line), problem);
}

void ShellWordReader::SkipBlanks() {
  while (at_ < text_.size()) {
    if (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r') {
      ++at_;
    } else if (text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') {
      at_ += 2;
    } else if (text_[at_] == '\\' && text_.substr(at_ + 1, 2) == "\r\n") {
      at_ += 3;
    } else {
      return;
    }
  }
}

void ShellWordReader::SkipLine() {
  while (at_ < text_.size() && text_[at_] != '\n') ++at_;
}

bool ShellWordReader::AtEnd() const {
  return at_ >= text_.size() || text_[at_] == '\n' || text_[at_] == ';' || text_[at_] == '&' ||
         text_[at_] == '|' || text_[at_] == '(' || text_[at_] == ')';
}

absl::Status ShellWordReader::ReadCommand(ShellCommand& command) {
  std::string path;  // that the command writes
  const size_t documents = pending_.size();
  while (true) {
    SkipBlanks();
    if (at_ < text_.size() && text_[at_] == '#') SkipLine();
    if (AtEnd()) break;
    if (text_[at_] == '<' || text_[at_] == '>') {
      RETURN_IF_ERROR(ReadRedirection(path));
      continue;
    }
    RETURN_IF_ERROR(ReadWord(command));
  }
  for (size_t i = documents; i < pending_.size(); ++i) pending_[i].path = path;
  return absl::OkStatus();
}

std::string ShellWordReader::TakeSeparator() {
  if (at_ >= text_.size()) return "\n";
  const std::string_view two = text_.substr(at_, 2);
  if (two == "&&" || two == "||" || two == ";;") {
    at_ += 2;
    return std::string(two);
  }
  const char one = text_[at_++];
  if (one == '\n') {
    for (const Document& document : std::exchange(pending_, {})) ReadDocument(document);
  }
  return std::string(1, one);
}

// --- Redirections.

// A redirection's target is no word of the command.
absl::Status ShellWordReader::ReadRedirection(std::string& path) {
  const bool here = text_.substr(at_, 2) == "<<" && text_.substr(at_, 3) != "<<<";
  const bool writes = text_[at_] == '>';
  const size_t start = at_;
  while (at_ < text_.size() &&
         (text_[at_] == '<' || text_[at_] == '>' || text_[at_] == '&' || text_[at_] == '-')) {
    ++at_;
  }
  Document document;
  document.in_tabs = absl::EndsWith(AbslView(text_.substr(start, at_ - start)), "-");
  SkipBlanks();
  document.expands = at_ < text_.size() && text_[at_] != '\'' && text_[at_] != '"';
  ShellCommand target;
  RETURN_IF_ERROR(ReadWord(target));
  if (target.empty()) return absl::OkStatus();
  if (writes && target.front().known()) path = target.front().text;
  if (!here) return absl::OkStatus();
  document.end = target.front().text;
  pending_.push_back(std::move(document));
  return absl::OkStatus();
}

// Reads the lines up to the end of the document. They are a file if the command writes one.
void ShellWordReader::ReadDocument(const Document& document) {
  const size_t start = at_;
  size_t end = text_.size();
  while (at_ < text_.size()) {
    const size_t line_start = at_;
    SkipLine();
    std::string_view line = text_.substr(line_start, at_ - line_start);
    if (absl::EndsWith(AbslView(line), "\r")) line.remove_suffix(1);
    while (document.in_tabs && !line.empty() && line.front() == '\t') line.remove_prefix(1);
    if (at_ < text_.size()) ++at_;
    if (line == document.end) {
      end = line_start;
      break;
    }
  }
  if (document.path.empty() || conditions_.Runs() != ShellTruth::kTrue) return;
  const std::string_view body = text_.substr(start, end - start);
  documents_.push_back({document.path, document.expands ? Expanded(body) : std::string(body)});
}

// Returns the text with its variables expanded. An unknown one stays as it is written.
std::string ShellWordReader::Expanded(std::string_view text) {
  const std::string_view whole = std::exchange(text_, text);
  const size_t place = std::exchange(at_, 0);
  std::string expanded;
  while (at_ < text_.size() && !variables_.TooLong()) {
    if (text_[at_] != '$') {
      expanded.push_back(text_[at_++]);
      continue;
    }
    std::vector<std::string> words;
    for (const ShellWord& part : Expand()) words.push_back(Written(part));
    absl::StrAppend(&expanded, absl::StrJoin(words, " "));
  }
  text_ = whole;
  at_ = place;
  return expanded;
}

// --- Words.

void ShellWordReader::Push(ShellCommand& command, Word& word) {
  if (word.exists) {
    command.push_back(std::move(word.word));
    variables_.CountWords(1);
  }
  word = {};
}

absl::Status ShellWordReader::ReadWord(ShellCommand& command) {
  Word word;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == ' ' || c == '\t' || c == '\r' || c == '<' || c == '>') break;
    if (c == '(' && word.exists && absl::EndsWith(word.word.text, "=")) {
      return ReadList(command, std::move(word.word));
    }
    if (AtEnd()) break;
    word.exists = true;
    if (c == '\'') {
      const size_t end = text_.find('\'', at_ + 1);
      if (end == std::string_view::npos) return Error("has a quote that does not end");
      absl::StrAppend(&word.word.text, AbslView(text_.substr(at_ + 1, end - at_ - 1)));
      at_ = end + 1;
    } else if (c == '"') {
      ++at_;
      RETURN_IF_ERROR(ReadQuoted(command, word));
    } else if (c == '\\') {
      if (at_ + 1 < text_.size() && text_[at_ + 1] == '\n') break;
      if (at_ + 1 < text_.size()) word.word.text.push_back(text_[at_ + 1]);
      at_ += 2;
    } else if (c == '$' || c == '`') {
      const std::vector<ShellWord> parts = Expand();
      const bool was_empty = word.word.text.empty() && word.word.known();
      if (parts.empty() && was_empty) word.exists = false;
      bool first = true;
      for (const ShellWord& part : parts) {
        if (!first) Push(command, word);
        // An assignment's value is one word.
        const bool whole = absl::StrContains(word.word.text, '=') && command.empty();
        AppendSplit(part, whole, command, word);
        first = false;
      }
    } else {
      word.word.text.push_back(c);
      ++at_;
    }
    RETURN_IF_ERROR(CheckSize(word.word.text));
  }
  // The number of a descriptor belongs to the redirection after it.
  const bool redirects = at_ < text_.size() && (text_[at_] == '<' || text_[at_] == '>');
  int64_t descriptor = 0;
  if (!redirects || !absl::SimpleAtoi(word.word.text, &descriptor)) Push(command, word);
  return absl::OkStatus();
}

absl::Status ShellWordReader::CheckSize(const std::string& word) const {
  if (word.size() > kMostWordBytes) return Error("has too long a word");
  if (variables_.TooManyWords()) return Error("has too many words");
  if (variables_.TooLong()) return Error("has variables that grow too long");
  return absl::OkStatus();
}

// Appends an unquoted expansion, whose blanks separate words.
void ShellWordReader::AppendSplit(const ShellWord& part, bool whole, ShellCommand& command,
                                  Word& word) {
  word.exists = true;
  if (!part.known()) word.word.unknown = part.unknown;
  word.word.varies = word.word.varies || part.varies;
  word.word.conditional = word.word.conditional || part.conditional;
  if (whole) {
    word.word.text += part.text;
    return;
  }
  bool first = true;
  for (const absl::string_view piece :
       absl::StrSplit(part.text, absl::ByAnyChar(" \t\n"), absl::SkipEmpty())) {
    if (!first) {
      Push(command, word);
      word.exists = true;
      word.word.conditional = part.conditional;
    }
    absl::StrAppend(&word.word.text, piece);
    first = false;
  }
  if (first && word.word.text.empty() && part.known()) word.exists = false;
}

absl::Status ShellWordReader::ReadQuoted(ShellCommand& command, Word& word) {
  // The script of `bash -c` is read again, with what is unknown as its text says it.
  const bool is_script = IsBeforeScript(command);
  while (at_ < text_.size() && text_[at_] != '"') {
    const char c = text_[at_];
    if (c == '\\' && at_ + 1 < text_.size()) {
      const char next = text_[at_ + 1];
      if (next != '\n') {
        if (next != '"' && next != '$' && next != '\\' && next != '`') {
          word.word.text.push_back('\\');
        }
        word.word.text.push_back(next);
      }
      at_ += 2;
    } else if (c == '$' || c == '`') {
      const bool is_list = absl::StrContains(AbslView(text_.substr(at_, 64)), "[@]}") ||
                           text_.substr(at_, 2) == "$@";
      const std::vector<ShellWord> parts = Expand();
      if (parts.empty() && is_list && word.word.text.empty()) word.exists = false;
      bool first = true;
      for (const ShellWord& part : parts) {
        if (!first && is_script) word.word.text += " ";
        if (!first && !is_script) Push(command, word);
        word.exists = true;
        absl::StrAppend(&word.word.text, is_script ? Written(part) : part.text);
        word.word.varies = word.word.varies || part.varies;
        if (!part.known() && !is_script) word.word.unknown = part.unknown;
        word.word.conditional = word.word.conditional || part.conditional;
        first = false;
      }
    } else {
      word.word.text.push_back(c);
      ++at_;
    }
    RETURN_IF_ERROR(CheckSize(word.word.text));
  }
  if (at_ >= text_.size()) return Error("has a quote that does not end");
  ++at_;
  return absl::OkStatus();
}

// Reads the words of NAME=( … ) or NAME+=( … ) and sets the variable.
absl::Status ShellWordReader::ReadList(ShellCommand& command, ShellWord name) {
  ++at_;
  if (++lists_ > kMostLists) return Error("has lists that are nested too deeply");
  ShellCommand list;
  while (true) {
    SkipBlanks();
    if (at_ >= text_.size()) return Error("has a list that does not end");
    if (text_[at_] == ')') break;
    if (text_[at_] == '#') {
      SkipLine();
    } else if (text_[at_] == '\n') {
      ++at_;
    } else if (AtEnd() || text_[at_] == '<' || text_[at_] == '>') {
      ++at_;
    } else {
      RETURN_IF_ERROR(ReadWord(list));
    }
    if (variables_.TooManyWords()) return Error("has too many words");
  }
  ++at_;
  --lists_;
  absl::string_view text = name.text;
  absl::ConsumeSuffix(&text, "=");
  const bool appends = absl::ConsumeSuffix(&text, "+");
  if (IsShellName(StdView(text))) {
    variables_.Assign(std::string(text), std::move(list), conditions_.Runs(), appends);
  }
  command.clear();
  return absl::OkStatus();
}

}  // namespace meshwright::planner
