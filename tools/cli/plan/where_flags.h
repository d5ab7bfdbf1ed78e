// --where and --fix: which layouts a search is about.
#pragma once

#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"

namespace meshwright::cli {

struct WhereFlags {
  std::string where;
  std::string fix;

  void Add(CLI::App& app);

  // The condition of both, in words of the first; empty where every layout is meant.
  absl::StatusOr<std::string> ToWhere() const;
};

}  // namespace meshwright::cli
