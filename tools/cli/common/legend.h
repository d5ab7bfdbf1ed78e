// Legend says what the marks and the words of an answer's table mean, one line for each.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/layout/layout.h"

namespace meshwright::cli {

class Legend {
 public:
  void Add(std::string_view mark, std::string_view meaning);
  // Adds the meaning of each key that the short text of at least one layout has, in the order of
  // the text form. Axes that divide the devices (tp, cp, pp, dp) are left out.
  void AddWordsOf(const std::vector<planner::Layout>& layouts);
  // Prints an empty line and then the meanings, all in one column: "vpp     chunks of layers that
  // each pipeline rank holds". A meaning that exceeds 80 columns continues below its first word.
  // Prints nothing if nothing was added.
  void Print(std::ostream& out) const;

 private:
  std::vector<std::pair<std::string, std::string>> meanings_;  // by mark
};

}  // namespace meshwright::cli
