#include "tools/cli/common/framework_flag.h"

#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/text/message_text.h"
#include "planner/interchange/framework.h"

namespace meshwright::cli {
namespace {

// Returns the names of the frameworks that the typed name stands for beside the first.
std::vector<std::string_view> OthersNamed(const std::string& typed) {
  std::vector<std::string_view> others;
  for (const planner::Framework* framework : planner::FrameworksNamed(typed)) {
    others.push_back(framework->name);
  }
  if (!others.empty()) others.erase(others.begin());
  return others;
}

}  // namespace

CLI::Option* FrameworkFlag::Add(CLI::App& app, const std::string& flag,
                                const std::string& description) {
  const auto choose = [this](std::string& text) -> std::string {
    const std::vector<const planner::Framework*> named = planner::FrameworksNamed(text);
    if (named.empty()) {
      return absl::StrCat(text, ": must be ", planner::FrameworkNamesInWords(),
                          ", or a profile that describes one of them");
    }
    const std::string own(named.front()->name);
    if (!absl::EqualsIgnoreCase(own, text)) typed = text;
    text = own;
    return "";
  };
  return app.add_option(flag, name, description)
      ->transform(CLI::Validator(choose, ""))
      ->option_text("FRAMEWORK");
}

void SayFramework(const FrameworkFlag& flag, const std::string& option, std::ostream& err) {
  if (flag.typed.empty()) return;
  err << "note: " << option << " " << EscapeControls(ShortText(flag.typed, 60)) << " is taken as "
      << flag.name;
  const std::vector<std::string_view> others = OthersNamed(flag.typed);
  if (!others.empty()) err << "; " << ListInWords(others, "and") << " may be meant too";
  err << "\n";
}

}  // namespace meshwright::cli
