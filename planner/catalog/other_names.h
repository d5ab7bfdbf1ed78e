// OtherNames is a table of the names that users type for presets beside the presets' own. Its text
// is a JSON object with a list of names for each preset.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace meshwright::planner {

class OtherNames {
 public:
  // `what` names the table in messages. A text that is no such object makes an empty table.
  OtherNames(std::string_view what, std::string_view text);

  // Returns the preset that the name stands for, whatever its case, or an empty text if there is
  // none. A preset's own name is not among them.
  std::string PresetOf(std::string_view name) const;
  // Returns the names that stand for the preset beside its own.
  std::vector<std::string> Of(std::string_view preset) const;

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> by_preset_;
};

}  // namespace meshwright::planner
