#include "planner/interchange/shell_script.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"

namespace meshwright::planner {
namespace {

// The most words of all commands and variables, and the most bytes of one word. Scripts that double
// a variable again and again end here.
constexpr size_t kMostWords = size_t{1} << 16;
constexpr size_t kMostWordBytes = size_t{1} << 16;
// The most bytes that expansions of variables make, and the most lists inside each other.
constexpr size_t kMostExpandedBytes = size_t{1} << 24;
constexpr int kMostLists = 4;
constexpr int64_t kMostFactor = int64_t{1} << 20;

// Variables that tell a node or a rank which one it is. A default of theirs decides no condition.
constexpr std::string_view kPlaces[] = {"NODE_RANK",    "RANK",         "LOCAL_RANK",
                                        "SLURM_PROCID", "SLURM_NODEID", "SLURM_LOCALID"};

bool IsPlace(absl::string_view name) {
  return std::find(std::begin(kPlaces), std::end(kPlaces), StdView(name)) != std::end(kPlaces);
}

bool IsNameStart(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool IsNameChar(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

bool IsName(absl::string_view text) {
  if (text.empty() || !IsNameStart(text[0])) return false;
  for (const char c : text) {
    if (!IsNameChar(c)) return false;
  }
  return true;
}

class Reader {
 public:
  Reader(const ConfigFile& file, const Variables& environment) : file_(file), text_(file.text) {
    for (const auto& [name, value] : environment) variables_[name] = {{value}};
  }

  absl::StatusOr<std::vector<ShellCommand>> Read() {
    while (at_ < text_.size()) {
      ShellCommand command;
      RETURN_IF_ERROR(ReadCommand(command));
      const std::string after = TakeSeparator();
      Take(std::move(command), after);
      if (words_ > kMostWords) return Error("has too many words");
    }
    return std::move(commands_);
  }

 private:
  enum class Truth : uint8_t { kFalse, kTrue, kUnknown };
  // A branch of an if that is open. Loops, cases and functions are branches of unknown truth.
  struct Branch {
    Truth runs = Truth::kUnknown;  // whether the current branch runs
    bool any_ran = false;          // whether an earlier branch is known to run
    bool any_unknown = false;
  };

  absl::Status Error(std::string_view problem) const {
    size_t line = 1;
    for (size_t i = 0; i < at_ && i < text_.size(); ++i) line += text_[i] == '\n' ? 1 : 0;
    return FieldError("file", absl::StrCat(file_.path, ":", line), problem);
  }

  Truth Runs() const {
    Truth all = Truth::kTrue;
    for (const Branch& branch : branches_) {
      if (branch.runs == Truth::kFalse) return Truth::kFalse;
      if (branch.runs == Truth::kUnknown) all = Truth::kUnknown;
    }
    return all;
  }

  // --- Words.

  void SkipBlanks() {
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

  bool AtEnd() const {
    return at_ >= text_.size() || text_[at_] == '\n' || text_[at_] == ';' || text_[at_] == '&' ||
           text_[at_] == '|' || text_[at_] == '(' || text_[at_] == ')';
  }

  absl::Status ReadCommand(ShellCommand& command) {
    while (true) {
      SkipBlanks();
      if (at_ < text_.size() && text_[at_] == '#') {
        SkipLine();
        return absl::OkStatus();
      }
      if (AtEnd()) return absl::OkStatus();
      if (text_[at_] == '<' || text_[at_] == '>') {
        RETURN_IF_ERROR(SkipRedirection());
        continue;
      }
      RETURN_IF_ERROR(ReadWord(command));
    }
  }

  void SkipLine() {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }

  // A redirection's target is no word of the command. The lines of a here-document are skipped.
  absl::Status SkipRedirection() {
    const bool here = text_.substr(at_, 2) == "<<" && text_.substr(at_, 3) != "<<<";
    while (at_ < text_.size() &&
           (text_[at_] == '<' || text_[at_] == '>' || text_[at_] == '&' || text_[at_] == '-')) {
      ++at_;
    }
    SkipBlanks();
    ShellCommand target;
    RETURN_IF_ERROR(ReadWord(target));
    if (!here || target.empty()) return absl::OkStatus();
    SkipLine();
    while (at_ < text_.size()) {
      ++at_;
      const size_t start = at_;
      SkipLine();
      if (absl::StripAsciiWhitespace(text_.substr(start, at_ - start)) == target.front().text) {
        return absl::OkStatus();
      }
    }
    return absl::OkStatus();
  }

  // A word under construction. An unquoted expansion may split it into several.
  struct Word {
    ShellWord word;
    bool exists = false;
  };

  absl::Status ReadWord(ShellCommand& command) {
    Word word;
    const auto finish = [&] {
      if (word.exists) command.push_back(std::move(word.word));
      words_ += word.exists ? 1 : 0;
      word = {};
    };
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
        if (end == absl::string_view::npos) return Error("has a quote that does not end");
        absl::StrAppend(&word.word.text, text_.substr(at_ + 1, end - at_ - 1));
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
          if (!first) finish();
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
    if (!redirects || !absl::SimpleAtoi(word.word.text, &descriptor)) finish();
    return absl::OkStatus();
  }

  absl::Status CheckSize(const std::string& word) const {
    if (word.size() > kMostWordBytes) return Error("has too long a word");
    if (words_ > kMostWords) return Error("has too many words");
    if (expanded_bytes_ > kMostExpandedBytes) return Error("has variables that grow too long");
    return absl::OkStatus();
  }

  // Appends an unquoted expansion, whose blanks separate words.
  void AppendSplit(const ShellWord& part, bool whole, ShellCommand& command, Word& word) {
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
        command.push_back(std::move(word.word));
        ++words_;
        word.word = {};
        word.word.conditional = part.conditional;
      }
      absl::StrAppend(&word.word.text, piece);
      first = false;
    }
    if (first && word.word.text.empty() && part.known()) word.exists = false;
  }

  absl::Status ReadQuoted(ShellCommand& command, Word& word) {
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
        const bool is_list =
            absl::StrContains(text_.substr(at_, 64), "[@]}") || text_.substr(at_, 2) == "$@";
        const std::vector<ShellWord> parts = Expand();
        if (parts.empty() && is_list && word.word.text.empty()) word.exists = false;
        bool first = true;
        for (const ShellWord& part : parts) {
          if (!first) {
            command.push_back(std::move(word.word));
            ++words_;
            word.word = {};
          }
          word.exists = true;
          absl::StrAppend(&word.word.text, part.text);
          word.word.varies = word.word.varies || part.varies;
          if (!part.known()) word.word.unknown = part.unknown;
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
  absl::Status ReadList(ShellCommand& command, ShellWord name) {
    ++at_;
    if (++lists_ > kMostLists) return Error("has too many lists inside each other");
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
      if (words_ > kMostWords) return Error("has too many words");
    }
    ++at_;
    --lists_;
    absl::string_view text = name.text;
    absl::ConsumeSuffix(&text, "=");
    const bool appends = absl::ConsumeSuffix(&text, "+");
    if (IsName(text)) Assign(std::string(text), std::move(list), appends);
    command.clear();
    return absl::OkStatus();
  }

  // --- Variables.

  void Assign(const std::string& name, std::vector<ShellWord> words, bool appends,
              bool joins = false) {
    const Truth runs = Runs();
    if (runs == Truth::kFalse) return;
    std::vector<ShellWord>& value = variables_[name];
    if (runs == Truth::kUnknown) {
      for (ShellWord& word : words) word.conditional = true;
      // What was there stays possible; both are conditional unless the new words only follow.
      if (!appends) {
        for (ShellWord& word : value) word.conditional = true;
        if (!value.empty() && value.size() == 1 && words.size() == 1) {
          value.front().unknown = name;
          return;
        }
      }
    } else if (!appends) {
      value.clear();
    }
    if (joins && !value.empty() && !words.empty()) {
      value.back().text += words.front().text;
      if (!words.front().known()) value.back().unknown = words.front().unknown;
      return;
    }
    words_ += words.size();
    value.insert(value.end(), words.begin(), words.end());
  }

  std::vector<ShellWord> ValueOf(const std::string& name, std::optional<std::string> otherwise) {
    const auto found = variables_.find(name);
    if (found != variables_.end()) {
      for (const ShellWord& word : found->second) expanded_bytes_ += word.text.size() + 1;
      if (expanded_bytes_ > kMostExpandedBytes) return {{"", name}};
      return found->second;
    }
    if (otherwise) return {{.text = *otherwise, .varies = IsPlace(name)}};
    return {{"", name}};
  }

  // Reads an expansion that begins with $ or `.
  std::vector<ShellWord> Expand() {
    if (text_[at_] == '`') return SkipUntil('`');
    ++at_;
    if (at_ >= text_.size()) return {{"$"}};
    const char c = text_[at_];
    if (text_.substr(at_, 2) == "((") return Arithmetic();
    if (c == '(') return SkipParentheses();
    if (c == '{') return Braced();
    if (c == '@' || c == '*') {
      ++at_;
      return {};  // the arguments of the script, which a file can't know and a user adds
    }
    if (IsNameStart(c)) {
      const size_t start = at_;
      while (at_ < text_.size() && IsNameChar(text_[at_])) ++at_;
      return ValueOf(std::string(text_.substr(start, at_ - start)), std::nullopt);
    }
    ++at_;
    return {{"", std::string(1, c)}};
  }

  std::vector<ShellWord> SkipUntil(char end) {
    const size_t found = text_.find(end, at_ + 1);
    at_ = found == absl::string_view::npos ? text_.size() : found + 1;
    return {{"", "a command's output"}};
  }

  std::vector<ShellWord> SkipParentheses() {
    int open = 0;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '(') ++open;
      if (text_[at_] == ')' && --open == 0) {
        ++at_;
        break;
      }
    }
    return {{"", "a command's output"}};
  }

  // Knows products of whole numbers alone.
  std::vector<ShellWord> Arithmetic() {
    const size_t end = text_.find("))", at_);
    if (end == absl::string_view::npos) return SkipParentheses();
    const absl::string_view inside = text_.substr(at_ + 2, end - at_ - 2);
    at_ = end + 2;
    int64_t product = 1;
    for (const absl::string_view factor : absl::StrSplit(inside, '*')) {
      absl::string_view name = absl::StripAsciiWhitespace(factor);
      absl::ConsumePrefix(&name, "$");
      if (absl::ConsumePrefix(&name, "{")) absl::ConsumeSuffix(&name, "}");
      std::string text(name);
      if (IsName(name)) {
        const std::vector<ShellWord> value = ValueOf(text, std::nullopt);
        if (value.size() != 1 || !value.front().known()) return {{"", text}};
        text = value.front().text;
      }
      int64_t number = 0;
      if (!absl::SimpleAtoi(text, &number) || number < 0 || number > kMostFactor ||
          product > int64_t{1} << 40) {
        return {{"", "a calculation"}};
      }
      product *= number;
    }
    return {{absl::StrCat(product)}};
  }

  std::vector<ShellWord> Braced() {
    size_t end = at_ + 1;
    for (int open = 1; end < text_.size(); ++end) {
      if (text_[end] == '{') ++open;
      if (text_[end] == '}' && --open == 0) break;
    }
    if (end >= text_.size()) {
      at_ = text_.size();
      return {{"", "a variable"}};
    }
    absl::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    if (!absl::ConsumeSuffix(&inside, "[@]")) absl::ConsumeSuffix(&inside, "[*]");
    size_t name_end = 0;
    while (name_end < inside.size() && IsNameChar(inside[name_end])) ++name_end;
    const std::string name(inside.substr(0, name_end));
    absl::string_view rest = inside.substr(name_end);
    if (rest.empty()) return ValueOf(name, std::nullopt);
    absl::ConsumePrefix(&rest, ":");
    if (!name.empty() && absl::StartsWith(rest, "?")) return ValueOf(name, std::nullopt);
    if (name.empty() || (!absl::ConsumePrefix(&rest, "-") && !absl::ConsumePrefix(&rest, "="))) {
      return {{"", name.empty() ? "a variable" : name}};
    }
    if (absl::StrContains(rest, '$') || absl::StrContains(rest, '`')) {
      return ValueOf(name, std::nullopt);
    }
    if (rest.size() >= 2 && (rest[0] == '"' || rest[0] == '\'') && rest.back() == rest[0]) {
      rest = rest.substr(1, rest.size() - 2);
    }
    return ValueOf(name, std::string(rest));
  }

  // --- Commands.

  std::string TakeSeparator() {
    if (at_ >= text_.size()) return "\n";
    const absl::string_view two = text_.substr(at_, 2);
    if (two == "&&" || two == "||" || two == ";;") {
      at_ += 2;
      return std::string(two);
    }
    return std::string(1, text_[at_++]);
  }

  // Handles a whole command, which `after` separates from the next.
  void Take(ShellCommand command, const std::string& after) {
    while (!command.empty() && command.front().known()) {
      const std::string& word = command.front().text;
      if (word == "if" || word == "elif") {
        if (word == "if") branches_.emplace_back();
        if (word == "elif" && !branches_.empty()) Next(branches_.back());
        condition_ = Truth::kTrue;
        condition_operator_.clear();
        in_condition_ = true;
      } else if (word == "then") {
        in_condition_ = false;
        if (!branches_.empty()) Decide(branches_.back(), condition_);
      } else if (word == "else") {
        if (!branches_.empty()) {
          Next(branches_.back());
          Decide(branches_.back(), Truth::kTrue);
        }
      } else if (word == "for" || word == "while" || word == "until" || word == "case" ||
                 word == "select") {
        branches_.emplace_back();
        command.clear();
        return;
      } else if (word == "fi" || word == "done" || word == "esac") {
        if (!branches_.empty()) branches_.pop_back();
        command.clear();
        return;
      } else if (word != "do" && word != "{" && word != "}" && word != "!" && word != "time" &&
                 word != "export" && word != "local" && word != "declare" && word != "readonly" &&
                 word != "exec") {
        break;
      }
      if (word == "!" && in_condition_) negates_ = true;
      command.erase(command.begin());
    }
    if (command.empty()) return;
    if (in_condition_) return Test(command, after);
    ShellCommand environment;
    if (TakeAssignments(command, environment) || command.empty()) return;
    command.insert(command.begin(), environment.begin(), environment.end());
    const Truth runs = Runs();
    if (runs == Truth::kFalse) return;
    if (runs == Truth::kUnknown) {
      for (ShellWord& word : command) word.conditional = true;
    }
    commands_.push_back(std::move(command));
  }

  static void Next(Branch& branch) {
    branch.any_ran = branch.any_ran || branch.runs == Truth::kTrue;
    branch.any_unknown = branch.any_unknown || branch.runs == Truth::kUnknown;
    branch.runs = Truth::kUnknown;
  }

  static void Decide(Branch& branch, Truth condition) {
    branch.runs = branch.any_ran ? Truth::kFalse : condition;
    if (branch.any_unknown && branch.runs == Truth::kTrue) branch.runs = Truth::kUnknown;
  }

  void Test(const ShellCommand& command, const std::string& after) {
    Truth truth = TruthOf(command);
    if (negates_ && truth != Truth::kUnknown) {
      truth = truth == Truth::kTrue ? Truth::kFalse : Truth::kTrue;
    }
    negates_ = false;
    if (condition_operator_ == "||") {
      if (condition_ != Truth::kTrue) {
        condition_ =
            condition_ == Truth::kUnknown && truth != Truth::kTrue ? Truth::kUnknown : truth;
      }
    } else if (condition_operator_ == "&&") {
      if (condition_ != Truth::kFalse) {
        condition_ =
            condition_ == Truth::kUnknown && truth != Truth::kFalse ? Truth::kUnknown : truth;
      }
    } else {
      condition_ = truth;
    }
    condition_operator_ = after;
  }

  static Truth TruthOf(const ShellCommand& command) {
    std::vector<std::string> words;
    for (const ShellWord& word : command) {
      if (!word.known() || word.conditional || word.varies) return Truth::kUnknown;
      words.push_back(word.text);
    }
    const auto is = [](bool value) { return value ? Truth::kTrue : Truth::kFalse; };
    if (words.size() < 3 || (words.front() != "[" && words.front() != "[[")) return Truth::kUnknown;
    words.pop_back();
    words.erase(words.begin());
    if (words.size() == 2 && words[0] == "-z") return is(words[1].empty());
    if (words.size() == 2 && words[0] == "-n") return is(!words[1].empty());
    if (words.size() != 3) return Truth::kUnknown;
    const std::string& sign = words[1];
    if (sign == "=" || sign == "==") {
      if (absl::StrContains(words[2], '*')) return Truth::kUnknown;
      return is(words[0] == words[2]);
    }
    if (sign == "!=") return is(words[0] != words[2]);
    int64_t left = 0;
    int64_t right = 0;
    if (!absl::SimpleAtoi(words[0], &left) || !absl::SimpleAtoi(words[2], &right)) {
      return Truth::kUnknown;
    }
    if (sign == "-eq") return is(left == right);
    if (sign == "-ne") return is(left != right);
    if (sign == "-gt") return is(left > right);
    if (sign == "-lt") return is(left < right);
    if (sign == "-ge") return is(left >= right);
    if (sign == "-le") return is(left <= right);
    return Truth::kUnknown;
  }

  // Takes the leading assignments of a command, and appends those that count processes to
  // `environment`. Returns whether the command is only of assignments.
  bool TakeAssignments(ShellCommand& command, ShellCommand& environment) {
    while (!command.empty()) {
      const std::string& text = command.front().text;
      const size_t sign = text.find('=');
      if (sign == std::string::npos) return false;
      const bool appends = sign > 0 && text[sign - 1] == '+';
      const std::string name = text.substr(0, appends ? sign - 1 : sign);
      if (!IsName(name)) return false;
      ShellWord value = command.front();
      value.text = text.substr(sign + 1);
      Assign(name, {value}, appends, /*joins=*/appends);
      if (name == "NPROC_PER_NODE" || name == "NNODES") environment.push_back(command.front());
      command.erase(command.begin());
    }
    return true;
  }

  const ConfigFile& file_;
  absl::string_view text_;
  size_t at_ = 0;
  size_t words_ = 0;
  size_t expanded_bytes_ = 0;
  int lists_ = 0;  // that are open
  std::map<std::string, std::vector<ShellWord>> variables_;
  std::vector<Branch> branches_;
  bool in_condition_ = false;
  bool negates_ = false;
  Truth condition_ = Truth::kTrue;
  std::string condition_operator_;
  std::vector<ShellCommand> commands_;
};

}  // namespace

absl::StatusOr<std::vector<ShellCommand>> ReadShellScript(const ConfigFile& file,
                                                          const Variables& environment) {
  return Reader(file, environment).Read();
}

}  // namespace meshwright::planner
