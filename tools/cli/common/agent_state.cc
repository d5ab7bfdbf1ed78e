#include "tools/cli/common/agent_state.h"

#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace meshwright::cli {

std::string SharedStateDir() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state != '\0') return absl::StrCat(state, "/meshwright");
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') return absl::StrCat(home, "/.local/state/meshwright");
  return "";
}

std::string AgentStateDir(const std::string& chosen, const std::string& name,
                          const std::string& server) {
  if (!chosen.empty()) return chosen;
  const std::string shared = SharedStateDir();
  // An address has a colon and maybe brackets, which are special to other programs in paths.
  std::string folder = server;
  for (char& c : folder) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '-') c = '_';
  }
  return shared.empty() ? "" : absl::StrCat(shared, "/agents/", name, "@", folder);
}

}  // namespace meshwright::cli
