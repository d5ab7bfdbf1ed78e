#include "tools/cli/io/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace meshwright::cli {
namespace {

constexpr char kReset[] = "\x1b[0m";

int StreamSlot() {
  static const int slot = std::ios_base::xalloc();
  return slot;
}

Terminal* AttachedTo(std::ostream& out) { return static_cast<Terminal*>(out.pword(StreamSlot())); }

const char* Escape(Style style) {
  switch (style) {
    case Style::kPlain:
      return "";
    case Style::kHeading:
      return "\x1b[1m";
    case Style::kGood:
      return "\x1b[32m";
    case Style::kWarning:
      return "\x1b[33m";
    case Style::kBad:
      return "\x1b[31m";
  }
  return "";
}

int64_t WindowColumns(int fd) {
  struct winsize size = {};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// Returns whether a byte continues the UTF-8 character before it.
bool Continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// Returns the length in bytes of a style's escape sequence at the beginning of `text`; 0 if
// there is none.
size_t StyleBytes(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const size_t end = text.find('m');
  return end == std::string_view::npos ? 0 : end + 1;
}

}  // namespace

void AttachTerminal(std::ostream& out, Terminal* terminal) { out.pword(StreamSlot()) = terminal; }

const Terminal& TerminalOf(std::ostream& out) {
  static const Terminal file;
  const Terminal* attached = AttachedTo(out);
  return attached == nullptr ? file : *attached;
}

void KeepTablesWide(std::ostream& out) {
  if (Terminal* terminal = AttachedTo(out)) terminal->folds_tables = false;
}

std::string Styled(std::ostream& out, Style style, std::string_view text) {
  if (text.empty() || style == Style::kPlain || !TerminalOf(out).has_colour)
    return std::string(text);
  return Escape(style) + std::string(text) + kReset;
}

Terminal TerminalAt(int fd, const command_line::Environment& environment) {
  Terminal terminal;
  if (isatty(fd) != 1) return terminal;
  const auto value = [&](const char* name) { return environment(name).value_or(""); };
  terminal.is_terminal = true;
  terminal.has_colour = value("NO_COLOR").empty() && value("TERM") != "dumb";
  terminal.columns = [fd] { return WindowColumns(fd); };
  return terminal;
}

int64_t DisplayWidth(std::string_view text) {
  int64_t width = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (const size_t style = StyleBytes(text.substr(at)); style > 0) {
      at += style - 1;
    } else if (!Continues(text[at])) {
      ++width;
    }
  }
  return width;
}

std::string CutToWidth(std::string_view text, int64_t columns) {
  size_t end = 0;
  for (int64_t width = 0; end < text.size(); ++end) {
    if (const size_t style = StyleBytes(text.substr(end)); style > 0) {
      end += style - 1;
    } else if (!Continues(text[end]) && ++width > columns) {
      break;
    }
  }
  return std::string(text.substr(0, end));
}

}  // namespace meshwright::cli
