#include "planner/interchange/log_entries.h"

#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/interchange/argument_defaults.h"

namespace meshwright::planner {
namespace {

constexpr std::string_view kListing = "------------------------ arguments ------------------------";
constexpr std::string_view kListingEnd = "end of arguments";
constexpr std::string_view kFromCheckpoint = " from checkpoint";
constexpr std::string_view kDeepspeedJson = "json = {";
constexpr std::string_view kTorchtitanJson = "Running with configs: {";
constexpr std::string_view kTrainerArguments = "TrainingArguments(";

bool IsNameChar(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
}

// Takes a name from the front of the text; empty if there is none.
std::string TakeName(absl::string_view& text) {
  size_t end = 0;
  while (end < text.size() && IsNameChar(text[end])) ++end;
  std::string name(text.substr(0, end));
  text.remove_prefix(end);
  return name;
}

// The lines of a log, of which those inside a print have the same words before them as its first.
class LogLines {
 public:
  explicit LogLines(const std::string& text) : lines_(absl::StrSplit(text, '\n')) {}

  bool AtEnd() const { return at_ >= lines_.size(); }
  absl::string_view Line() const {
    absl::string_view line = lines_[at_];
    absl::ConsumeSuffix(&line, "\r");
    absl::ConsumePrefix(&line, before_);
    return line;
  }
  void Next() { ++at_; }
  // Sets the words before each line of a print. A line may lack them.
  void SetBefore(absl::string_view before) { before_ = before; }

 private:
  std::vector<absl::string_view> lines_;
  size_t at_ = 0;
  absl::string_view before_;
};

// Returns the rank's name that launchers write before each line, such as "[default0]:" or "0: ".
absl::string_view RankBefore(absl::string_view line) {
  const size_t colon = line.find(':');
  if (colon == absl::string_view::npos || colon > 24) return "";
  const absl::string_view before = line.substr(0, colon + 1);
  const bool is_rank = before.front() == '[' ? absl::EndsWith(before, "]:")
                                             : absl::ascii_isdigit(before.front()) != 0 &&
                                                   before.find(' ') == absl::string_view::npos;
  return is_rank ? before : "";
}

class LogReader {
 public:
  explicit LogReader(const ConfigFile& file) : file_(file), lines_(file.text) {}

  absl::StatusOr<std::vector<ConfigEntry>> Read() {
    for (; !lines_.AtEnd(); lines_.Next()) {
      lines_.SetBefore("");
      const absl::string_view line = lines_.Line();
      if (absl::StrContains(line, AbslView(kListing))) {
        RETURN_IF_ERROR(ReadListing());
      } else if (absl::EndsWith(line, AbslView(kFromCheckpoint))) {
        ReadFromCheckpoint(line);
      } else if (absl::StrContains(line, AbslView(kDeepspeedJson))) {
        RETURN_IF_ERROR(ReadDeepspeed(line));
      } else if (absl::StrContains(line, AbslView(kTorchtitanJson))) {
        RETURN_IF_ERROR(ReadTorchtitan(line));
      } else if (absl::StrContains(line, AbslView(kTrainerArguments))) {
        RETURN_IF_ERROR(ReadTrainer());
      }
      if (entries_.size() > kMostEntries) {
        return FieldError("file", file_.path,
                          absl::StrCat("must have at most ", kMostEntries, " arguments"));
      }
    }
    LeaveOutExperts();
    return std::move(entries_);
  }

 private:
  // Megatron-LM lists how experts are divided for models without experts, too.
  void LeaveOutExperts() {
    for (const ConfigEntry& entry : entries_) {
      if (entry.name == "--num-experts" && entry.given.empty()) return;
    }
    for (ConfigEntry& entry : entries_) {
      if (entry.name != "--expert-tensor-parallel-size") continue;
      entry.given = "the model has no experts";
      entry.left_out = true;
    }
  }

  absl::Status DoesNotEnd(std::string_view print) const {
    return FieldError("file", file_.path,
                      absl::StrCat("has a listing, ", AbslView(print), ", that does not end"));
  }

  // "  name ........ value"; a long name has no dots.
  absl::Status ReadListing() {
    const absl::string_view first = lines_.Line();
    lines_.SetBefore(first.substr(0, first.find(AbslView(kListing))));
    for (lines_.Next(); !lines_.AtEnd(); lines_.Next()) {
      absl::string_view line = lines_.Line();
      if (absl::StrContains(line, AbslView(kListingEnd))) return absl::OkStatus();
      if (entries_.size() > kMostEntries) return absl::OkStatus();  // the caller reports it
      if (!absl::ConsumePrefix(&line, "  ")) continue;              // of another program
      const std::string name = TakeName(line);
      if (name.empty() || !absl::ConsumePrefix(&line, " ")) continue;
      while (absl::ConsumePrefix(&line, ".")) continue;
      if (!absl::ConsumePrefix(&line, " ")) continue;
      AddMegatron(name, absl::StripAsciiWhitespace(line));
    }
    return DoesNotEnd(kListing);
  }

  // "Setting num_layers to 32 from checkpoint"
  void ReadFromCheckpoint(absl::string_view line) {
    const size_t start = line.find("Setting ");
    if (start == absl::string_view::npos) return;
    line.remove_prefix(start + 8);
    absl::ConsumeSuffix(&line, AbslView(kFromCheckpoint));
    const std::string name = TakeName(line);
    if (!name.empty() && absl::ConsumePrefix(&line, " to ")) AddMegatron(name, line);
  }

  void AddMegatron(const std::string& name, absl::string_view value) {
    entries_.push_back(ArgumentDefaults::Of("megatron").EntryOf(name, StdView(value)));
    entries_.back().left_out = !entries_.back().given.empty();
  }

  // Reads lines up to the end of the object that begins at the end of the first.
  absl::StatusOr<ConfigFile> ReadObject(absl::string_view line, std::string_view marker) {
    const size_t start = line.find(AbslView(marker)) + marker.size() - 1;
    lines_.SetBefore(RankBefore(line));
    std::string text(line.substr(start));
    for (lines_.Next(); !lines_.AtEnd(); lines_.Next()) {
      absl::StrAppend(&text, "\n", lines_.Line());
      if (absl::StartsWith(lines_.Line(), "}")) return ConfigFile{file_.path, std::move(text)};
    }
    return DoesNotEnd(marker);
  }

  absl::Status ReadDeepspeed(absl::string_view line) {
    ASSIGN_OR_RETURN(const ConfigFile object, ReadObject(line, kDeepspeedJson));
    ASSIGN_OR_RETURN(std::vector<ConfigEntry> entries, ReadJsonEntries(object));
    entries_.insert(entries_.end(), std::make_move_iterator(entries.begin()),
                    std::make_move_iterator(entries.end()));
    return absl::OkStatus();
  }

  // A print names no classes. Those of the loss and of recomputation are known by their fields.
  absl::Status ReadTorchtitan(absl::string_view line) {
    ASSIGN_OR_RETURN(const ConfigFile object, ReadObject(line, kTorchtitanJson));
    ASSIGN_OR_RETURN(const std::vector<ConfigEntry> entries, ReadJsonEntries(object));
    std::optional<std::string> policy;
    std::optional<std::string> loss;
    for (const ConfigEntry& entry : entries) {
      const absl::string_view name = entry.name;
      if (absl::StartsWith(name, "activation_checkpoint.")) {
        const bool selects = absl::StrContains(name, "force_recompute");
        if (!policy || selects) policy = selects ? "SelectiveAC.Config" : "FullAC.Config";
      } else if (absl::StartsWith(name, "loss.")) {
        if (!loss || name == "loss.num_chunks") {
          loss =
              name == "loss.num_chunks" ? "ChunkedLossWrapper.Config" : "CrossEntropyLoss.Config";
        }
      }
      const std::string value = entry.value == "null" ? "None" : entry.value;
      entries_.push_back(ArgumentDefaults::Of("torchtitan").EntryOf(entry.name, entry.value));
      entries_.back().value = value;
      if (absl::StartsWith(name, "activation_checkpoint.")) entries_.back().given = "of its class";
    }
    if (policy) entries_.push_back({"activation_checkpoint", *policy});
    if (loss) entries_.push_back({"loss", *loss});
    return absl::OkStatus();
  }

  // "name=value,", one on a line, in Python's form.
  absl::Status ReadTrainer() {
    lines_.SetBefore(RankBefore(lines_.Line()));
    for (lines_.Next(); !lines_.AtEnd(); lines_.Next()) {
      absl::string_view line = absl::StripAsciiWhitespace(lines_.Line());
      if (line == ")") return absl::OkStatus();
      if (entries_.size() > kMostEntries) return absl::OkStatus();
      const std::string name = TakeName(line);
      if (name.empty() || !absl::ConsumePrefix(&line, "=")) continue;
      absl::ConsumeSuffix(&line, ",");
      entries_.push_back(ArgumentDefaults::Of("trainer").EntryOf(name, StdView(line)));
      if (entries_.back().name == name) entries_.back().name = "--" + name;
    }
    return DoesNotEnd(kTrainerArguments);
  }

  const ConfigFile& file_;
  LogLines lines_;
  std::vector<ConfigEntry> entries_;
};

}  // namespace

bool IsTrainingLog(std::string_view text) {
  for (const std::string_view marker :
       {kListing, kDeepspeedJson, kTorchtitanJson, kTrainerArguments}) {
    if (text.find(marker) != std::string_view::npos) return true;
  }
  return text.find("Setting ") != std::string_view::npos &&
         text.find(kFromCheckpoint) != std::string_view::npos;
}

absl::StatusOr<std::vector<ConfigEntry>> ReadLogEntries(const ConfigFile& file) {
  return LogReader(file).Read();
}

}  // namespace meshwright::planner
