// Declares the fields of an imported entry (planner/codec/fields.h).
#pragma once

#include <array>
#include <string_view>

#include "planner/codec/fields.h"
#include "planner/interchange/imported.h"

namespace meshwright::planner {

inline constexpr std::array<std::string_view, 3> kEntryStatuses = {"used", "ignored", "rejected"};

template <typename Visitor>
void VisitFields(const ImportedEntry& entry, Visitor& visit) {
  visit({"file", "File that has the entry, or --set"}, entry.file);
  visit({"name", "The framework's name, such as a flag or a key"}, entry.name);
  visit({"value", "The framework's value; empty for a name that stands alone"}, entry.value);
  visit(Among(kEntryStatuses,
              {"status",
               "used; ignored: changes neither memory nor time, or is what an estimate takes as "
               "given; rejected: changes memory or time, and no estimate follows it"}),
        NameOf(kEntryStatusNames, entry.status));
  visit(OnlyIf(!entry.key.empty(),
               {"key", "Key of the layout, option or field that the entry is about"}),
        entry.key);
  visit(OnlyIf(!entry.hint.empty(), {"hint", "Why it is ignored or rejected, and what helps"}),
        entry.hint);
}

}  // namespace meshwright::planner
