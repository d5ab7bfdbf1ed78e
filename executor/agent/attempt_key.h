// Which try at which trial: what assignments, heartbeats and results name.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace meshwright::agent {

struct AttemptKey {
  std::string sweep;  // the last part of the sweep's name
  int32_t trial = 0;
  int32_t attempt = 0;

  friend auto operator<=>(const AttemptKey&, const AttemptKey&) = default;
};

}  // namespace meshwright::agent
