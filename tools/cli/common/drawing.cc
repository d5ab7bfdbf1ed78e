#include "tools/cli/common/drawing.h"

#include "absl/strings/ascii.h"
#include "base/text/field_error.h"

namespace meshwright::cli {

void AddPlot(CLI::App& app, std::string& path, const std::string& what) {
  app.add_option("--plot", path, what)->option_text("FILE.svg");
}

absl::StatusOr<OutputFile> ClaimPlot(CommandFiles& files, const std::string& path) {
  if (!path.empty() && !absl::AsciiStrToLower(path).ends_with(".svg")) {
    return FieldError("plot", path, "must end in .svg: that is what is drawn");
  }
  return files.Claim("plot", path);
}

}  // namespace meshwright::cli
