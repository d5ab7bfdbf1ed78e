// ArgumentDefaults are the defaults of a framework's arguments (planner/data/arguments). A listing
// of all arguments, as a training log has it, says defaults as well as what somebody chose.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "planner/interchange/config_entry.h"

namespace meshwright::planner {

struct ListedArgument {
  std::string name;          // as a launch line or a file has it; empty if only `off` exists
  std::string default_text;  // as a listing prints it
  std::string off;           // the flag that makes it false; empty if there is none
};

class ArgumentDefaults {
 public:
  // REQUIRES: planner/data/arguments has a file of this name.
  static const ArgumentDefaults& Of(std::string_view framework);

  // Returns what a listing says as the entry of a launch line or file. The entry says why it tells
  // nothing (ConfigEntry::given) if it is a default, is off, or is what the program itself
  // computes.
  ConfigEntry EntryOf(std::string_view listed, std::string_view value) const;

 private:
  explicit ArgumentDefaults(std::string_view json);

  std::string release_;
  std::set<std::string> computed_;
  std::map<std::string, ListedArgument> arguments_;
};

}  // namespace meshwright::planner
