// A NameRow connects a name of a framework's configuration, such as a flag, with a setting
// (planner/interchange/settings.h). Each framework has a table of such rows, from which both the
// export and the import are made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "planner/interchange/settings.h"

namespace meshwright::planner {

enum class NameUse : uint8_t { kBoth, kExport, kImport };

// What the import does with a name that no setting has.
enum class NameEffect : uint8_t {
  kNone,     // the name changes neither memory nor time, or says what an estimate takes as given
  kRefused,  // the name changes memory or time in a way that an estimate does not know
  kFile      // the name names a further file, which must be read too
};

struct NameRow {
  // The framework's name. In rows without a setting, a trailing * stands for any end.
  std::string_view name;
  std::string_view setting = {};
  // How values are written, as a list of OURS=THEIRS with blanks between them: "0- 1=true". A word
  // without = is the same for both, "0-" is said by leaving the name out, "1=" by the name alone,
  // and * stands for any other value. Empty: any value as it is.
  std::string_view words = {};
  NameUse use = NameUse::kBoth;
  // Written only if this setting is said; empty: only if `setting` is. Of a row without a setting,
  // `words` is the value that an export writes, or the one that an import takes as given.
  std::string_view when = {};
  NameEffect effect = NameEffect::kNone;
  std::string_view hint = {};  // why a name is ignored or refused
  bool joins = false;          // written on the line of the row above
  bool quoted = false;         // the value is always quoted
  // Where the name is known if the framework's release lacks it: another release, or a script.
  std::string_view of = {};
};

using NameTable = absl::Span<const NameRow>;

struct Spelling {
  const NameRow* row;
  std::string value;
};

// Returns the row's value in the framework's words, and nullopt if the value is said by leaving the
// name out. Returns InvalidArgument, which names the key and what the framework has, if the row has
// no word for the value.
absl::StatusOr<std::optional<std::string>> Spell(const NameRow& row, const std::string& ours);

// Returns the values of the setting that the row's `theirs` stands for, the likeliest first. It is
// empty if the row knows no such value.
std::vector<std::string> Meanings(const NameRow& row, std::string_view theirs);
// Returns the values that are said by leaving the name out.
std::vector<std::string> UnsaidMeanings(const NameRow& row);
// Returns the values that the framework has, as a list in words; empty: any value.
std::string AcceptedWords(const NameRow& row);

// Returns the name without the signs before it, and with hyphens for underscores.
std::string NormalName(std::string_view name);

// Returns the row for a name: the one that has it, else the longest whose * stands for its end.
// Returns null if there is none. Underscores and hyphens are the same, and a name may have or lack
// the hyphens of a flag and Hydra's + of a new key.
const NameRow* FindRow(absl::Span<const NameTable> tables, std::string_view name);

// Returns what the tables write for the settings, in the order of their rows.
absl::StatusOr<std::vector<Spelling>> SpellAll(NameTable table, const Settings& settings);

// Returns the flags as words, in lines of a script. Rows that join the row above are on its line,
// and blanks separate the words of a value that is not `quoted`. REQUIRES: the spellings are of
// rows of the table, in its order.
std::vector<std::vector<std::string>> FlagLines(NameTable table,
                                                const std::vector<Spelling>& spellings);

}  // namespace meshwright::planner
