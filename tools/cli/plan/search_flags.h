// SearchFlags holds --search, which names the options of a run that a search varies in addition to
// layouts.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"

namespace meshwright::cli {

struct SearchFlags {
  std::vector<std::string> options;  // as ParseSearchedOptions() reads them

  void Add(CLI::App& app);
};

}  // namespace meshwright::cli
