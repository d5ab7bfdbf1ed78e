#include "tools/cli/serve/browser.h"

#include <fcntl.h>
#include <unistd.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/system/spawn.h"
#include "base/system/unique_fd.h"
#include "base/text/status_macros.h"

namespace meshwright::cli {
namespace {

constexpr char kOpener[] = "xdg-open";
constexpr char kPage[] = "meshwright.html";

// Returns the path of the program in the folders of PATH; empty if none has it.
std::string FindOpener(const command_line::Environment& environment) {
  const std::string folders = environment("PATH").value_or("/usr/bin:/bin");
  for (const absl::string_view folder : absl::StrSplit(folders, ':', absl::SkipEmpty())) {
    std::string path = absl::StrCat(folder, "/", kOpener);
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return "";
}

std::vector<std::string> OwnEnvironment() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    variables.emplace_back(*variable);
  }
  return variables;
}

}  // namespace

absl::Status OpenInBrowser(const std::string& url, const command::RunFolder& folder,
                           const command_line::Environment& environment) {
  if (!environment("DISPLAY") && !environment("WAYLAND_DISPLAY")) {
    return absl::UnavailableError("there is no desktop (DISPLAY and WAYLAND_DISPLAY are not set)");
  }
  const std::string opener = FindOpener(environment);
  if (opener.empty()) return absl::UnavailableError(absl::StrCat("PATH has no ", kOpener));
  RETURN_IF_ERROR(folder.Write(
      {{kPage, absl::StrCat("<!doctype html><meta http-equiv=\"refresh\" content=\"0;url=", url,
                            "\"><title>Meshwright</title>\n")}}));
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const UniqueFd source(::fcntl(null.get(), F_DUPFD_CLOEXEC, kFirstSpawnSource));
  // The browser may run for long, in a group of its own; nobody waits for it.
  return Spawn({.path = opener,
                .arguments = {kOpener, absl::StrCat(folder.path(), "/", kPage)},
                .environment = OwnEnvironment(),
                .descriptors = {{source.get(), STDIN_FILENO},
                                {source.get(), STDOUT_FILENO},
                                {source.get(), STDERR_FILENO}}})
      .status();
}

}  // namespace meshwright::cli
