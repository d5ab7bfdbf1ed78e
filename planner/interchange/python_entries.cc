#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/interchange/config_entry.h"

namespace meshwright::planner {
namespace {

constexpr int kMostCalls = 16;  // calls inside each other

// Reads the arguments of one call. Nothing is evaluated: a value is the text between the commas.
class CallReader {
 public:
  CallReader(const ConfigFile& file, size_t from) : file_(file), at_(from) {}

  // REQUIRES: the text before the position ends with the call's opening parenthesis.
  absl::Status Read(const std::string& around, int depth, std::vector<ConfigEntry>& entries) {
    if (depth > kMostCalls) return Error("has calls that are nested too deeply");
    while (true) {
      SkipBlanks();
      if (at_ >= file_.text.size()) return Error("ends inside a call");
      if (file_.text[at_] == ')') {
        ++at_;
        return absl::OkStatus();
      }
      const std::string name = Word();
      SkipBlanks();
      if (name.empty() || at_ >= file_.text.size() || file_.text[at_] != '=') {
        return Error("must have keyword arguments alone in the call");
      }
      ++at_;
      RETURN_IF_ERROR(ReadValue(around + name, depth, entries));
      if (entries.size() > kMostEntries) return Error("has too many arguments");
      SkipBlanks();
      if (at_ < file_.text.size() && file_.text[at_] == ',') ++at_;
    }
  }

 private:
  absl::Status ReadValue(const std::string& name, int depth, std::vector<ConfigEntry>& entries) {
    SkipBlanks();
    const size_t start = at_;
    const std::string callee = Word();
    if (!callee.empty() && at_ < file_.text.size() && file_.text[at_] == '(' &&
        absl::ascii_isalpha(static_cast<unsigned char>(callee[0]))) {
      ++at_;
      if (IsKeywordCall()) {
        entries.push_back({name, callee});
        return Read(name + ".", depth + 1, entries);
      }
    }
    at_ = start;
    return ReadText(name, entries);
  }

  // Returns whether the call has no arguments, or begins with a keyword argument.
  bool IsKeywordCall() {
    const size_t start = at_;
    SkipBlanks();
    bool keyword = at_ < file_.text.size() && file_.text[at_] == ')';
    if (!Word().empty()) {
      SkipBlanks();
      keyword = at_ + 1 < file_.text.size() && file_.text[at_] == '=' && file_.text[at_ + 1] != '=';
    }
    at_ = start;
    return keyword;
  }

  absl::Status ReadText(const std::string& name, std::vector<ConfigEntry>& entries) {
    const size_t start = at_;
    int open = 0;
    char quote = '\0';
    for (; at_ < file_.text.size(); ++at_) {
      const char c = file_.text[at_];
      if (quote != '\0') {
        if (c == quote) quote = '\0';
        continue;
      }
      if (c == '"' || c == '\'') quote = c;
      if (c == '(' || c == '[' || c == '{') ++open;
      if ((c == ')' || c == ',') && open == 0) break;
      if (c == ')' || c == ']' || c == '}') --open;
    }
    if (at_ >= file_.text.size()) return Error("ends inside a call");
    std::string value(
        absl::StripAsciiWhitespace(absl::string_view(file_.text).substr(start, at_ - start)));
    if (value.size() >= 2 && (value[0] == '"' || value[0] == '\'') && value.back() == value[0]) {
      value = value.substr(1, value.size() - 2);
    }
    entries.push_back({name, value});
    return absl::OkStatus();
  }

  std::string Word() {
    const size_t start = at_;
    while (at_ < file_.text.size() &&
           (absl::ascii_isalnum(static_cast<unsigned char>(file_.text[at_])) ||
            file_.text[at_] == '_' || file_.text[at_] == '.')) {
      ++at_;
    }
    return file_.text.substr(start, at_ - start);
  }

  void SkipBlanks() {
    while (at_ < file_.text.size()) {
      if (file_.text[at_] == '#') {
        while (at_ < file_.text.size() && file_.text[at_] != '\n') ++at_;
      } else if (absl::ascii_isspace(static_cast<unsigned char>(file_.text[at_]))) {
        ++at_;
      } else {
        return;
      }
    }
  }

  absl::Status Error(std::string_view problem) const {
    size_t line = 1;
    for (size_t i = 0; i < at_ && i < file_.text.size(); ++i) line += file_.text[i] == '\n' ? 1 : 0;
    return FieldError("file", absl::StrCat(file_.path, ":", line), problem);
  }

  const ConfigFile& file_;
  size_t at_;
};

// Adds the module that model_registry is imported from, and puts the flavor that it is called with
// in place of model_spec's value.
void AddModel(absl::string_view text, std::vector<ConfigEntry>& entries) {
  constexpr absl::string_view kImported = " import model_registry";
  const size_t imported = text.find(kImported);
  if (imported != absl::string_view::npos) {
    const absl::string_view before = text.substr(0, imported);
    const size_t start = before.find_last_of(". ") + 1;
    entries.push_back({"model_registry", std::string(before.substr(start))});
  }
  constexpr absl::string_view kCall = "model_registry(\"";
  const size_t call = text.find(kCall);
  if (call == absl::string_view::npos) return;
  const absl::string_view flavor = text.substr(call + kCall.size());
  for (ConfigEntry& entry : entries) {
    if (entry.name == "model_spec") entry.value = std::string(flavor.substr(0, flavor.find('"')));
  }
}

}  // namespace

absl::StatusOr<std::vector<ConfigEntry>> ReadPythonEntries(const ConfigFile& file,
                                                           std::string_view callee) {
  const size_t found = file.text.find(callee);
  if (found == std::string::npos) {
    return FieldError("file", file.path, absl::StrCat("must call ", AbslView(callee)));
  }
  std::vector<ConfigEntry> entries;
  RETURN_IF_ERROR(CallReader(file, found + callee.size()).Read("", 0, entries));
  AddModel(file.text, entries);
  return entries;
}

}  // namespace meshwright::planner
