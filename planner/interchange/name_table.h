// A NameRow connects a name of a framework's configuration, such as a flag, with a setting
// (planner/interchange/settings.h). Each framework has tables of such rows, which both the export
// and the import use.
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

// What the import does with a name that stands for no setting.
enum class NameEffect : uint8_t {
  kNone,     // the name changes neither memory nor time, or says what an estimate takes as given
  kRefused,  // the name changes memory or time in a way that an estimate does not know
  kFile      // the name names a further file, which must be read too
};

struct NameRow {
  // The framework's name. In rows without a setting, a trailing * stands for any end.
  std::string_view name;
  std::string_view setting = {};
  // How values are written: words of the form OURS=THEIRS, separated by blanks, as in "0- 1=true".
  // A word without = is the same for both. "0-" means that the framework's file says 0 by leaving
  // the name out, "1=" that it says 1 by the name alone, and * stands for any other value, written
  // as it is. Empty: any value, written as it is.
  //
  // In a row without a setting: the value that an export writes, or the values that an import
  // ignores because an estimate takes them as given.
  std::string_view words = {};
  NameUse use = NameUse::kBoth;
  // An export writes the row only if this setting has a value too; empty: no such condition.
  std::string_view when = {};
  NameEffect effect = NameEffect::kNone;
  std::string_view hint = {};  // why a name is ignored or refused
  bool joins = false;          // written on the line of the row above
  bool quoted = false;         // the value is always quoted
  // What has the name if the framework's release lacks it: another release, or a script.
  std::string_view of = {};
};

using NameTable = absl::Span<const NameRow>;

struct Spelling {
  const NameRow* row;
  std::string value;
};

// Returns the value `ours` as the framework writes it; nullopt if the framework writes it by
// leaving the name out. Returns InvalidArgument, which names the key and the accepted values, if
// the row has no word for the value.
absl::StatusOr<std::optional<std::string>> Spell(const NameRow& row, const std::string& ours);

// Returns the values of the setting that the framework's value `theirs` may stand for, the
// likeliest first. The list is empty if the row has no word for `theirs`.
std::vector<std::string> Meanings(const NameRow& row, std::string_view theirs);
// Returns the values that the framework writes by leaving the name out.
std::vector<std::string> UnsaidMeanings(const NameRow& row);
// Returns the framework's values, such as "a, b or c"; empty if it takes any value.
std::string AcceptedWords(const NameRow& row);

// Returns the name without the signs - and + before it, and with hyphens for underscores.
std::string NormalName(std::string_view name);

// Returns the row with this name. If there is none, returns the row with the longest name that ends
// in * and has a prefix of `name` before the *; null if there is no such row either. Names are
// compared by their NormalName(), without the hyphens of a flag and Hydra's + of a new key.
const NameRow* FindRow(absl::Span<const NameTable> tables, std::string_view name);

// Returns the names and values that the table has for the settings, in the order of its rows.
absl::StatusOr<std::vector<Spelling>> SpellAll(NameTable table, const Settings& settings);

// Returns the flags and their values as arguments, grouped by lines of a script. A row with `joins`
// is on the line of the row above, and a value that is not `quoted` is split at blanks into several
// arguments. REQUIRES: the spellings are of rows of the table, in its order.
std::vector<std::vector<std::string>> FlagLines(NameTable table,
                                                const std::vector<Spelling>& spellings);

}  // namespace meshwright::planner
