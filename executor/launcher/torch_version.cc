#include "executor/launcher/torch_version.h"

#include <algorithm>

namespace meshwright::launcher {
namespace {

// Returns the string assigned by a line `name = '...'` or `name: type = '...'`; nullopt if there
// is none.
std::optional<std::string> AssignedString(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos || line.substr(0, name.size()) != name) continue;
    const char next = line[name.size()];
    if (next != ' ' && next != ':' && next != '=') continue;
    const std::string_view value = line.substr(equals + 1);
    const size_t open = value.find_first_of("'\"");
    if (open == std::string_view::npos) continue;
    const size_t close = value.find(value[open], open + 1);
    if (close == std::string_view::npos) continue;
    return std::string(value.substr(open + 1, close - open - 1));
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> TorchVersion(std::string_view version_py) {
  std::optional<std::string> version = AssignedString(version_py, "__version__");
  if (!version.has_value() || version->find('+') != std::string::npos) return version;
  std::optional<std::string> cuda = AssignedString(version_py, "cuda");
  if (!cuda.has_value()) return version;
  cuda->erase(std::remove(cuda->begin(), cuda->end(), '.'), cuda->end());
  return *version + "+cu" + *cuda;
}

}  // namespace meshwright::launcher
