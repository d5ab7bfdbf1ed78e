// ArgumentDefaults are the defaults of a framework's arguments (planner/data/arguments). A listing
// of all arguments, such as a training log has, contains the defaults as well as the values that
// somebody chose.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "planner/interchange/config_entry.h"

namespace meshwright::planner {

struct ListedArgument {
  std::string name;          // as a launch line or a file has it; empty if there is only `off`
  std::string default_text;  // as a listing prints it
  std::string off;           // the flag that makes it false; empty if there is none
};

class ArgumentDefaults {
 public:
  // REQUIRES: planner/data/arguments has a file of this name.
  static const ArgumentDefaults& Of(std::string_view framework);

  // Returns the entry of a launch line or file that stands for the argument `listed` of a listing.
  // ConfigEntry::given is set if (1) the value is the default, (2) the argument is off and no flag
  // turns it off, or (3) the program itself computes the value.
  ConfigEntry EntryOf(std::string_view listed, std::string_view value) const;

 private:
  explicit ArgumentDefaults(std::string_view json);

  std::string release_;
  std::set<std::string> computed_;
  std::map<std::string, ListedArgument> arguments_;
};

}  // namespace meshwright::planner
