#include "server/gateway/static_files.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/string_view.h"
#include "db/token.h"

namespace meshwright::server {
namespace {

constexpr size_t kTagCharacters = 32;

constexpr std::pair<std::string_view, std::string_view> kContentTypes[] = {
    {".css", "text/css; charset=utf-8"},
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".json", "application/json"},
    {".svg", "image/svg+xml"},
};

std::string_view ContentTypeOf(std::string_view name) {
  for (const auto& [ending, type] : kContentTypes) {
    if (name.ends_with(ending)) return type;
  }
  return "text/plain; charset=utf-8";
}

}  // namespace

StaticFiles::StaticFiles(absl::Span<const planner::EmbeddedFile> files) {
  for (const planner::EmbeddedFile& file : files) {
    const File found = {
        .text = file.text,
        .content_type = ContentTypeOf(file.name),
        .tag = absl::StrCat("\"", db::HashOf(file.text).substr(0, kTagCharacters), "\"")};
    files_.emplace(absl::StrCat("/", AbslView(file.name)), found);
    if (file.name == "index.html") files_.emplace("/", found);
  }
}

std::optional<HttpResponse> StaticFiles::Find(std::string_view path,
                                              std::string_view if_none_match) const {
  const auto found = files_.find(path);
  if (found == files_.end()) return std::nullopt;
  const File& file = found->second;
  HttpResponse response;
  // A browser asks each time whether its copy is the file of the program that runs now.
  response.fields = {{"ETag", file.tag}, {"Cache-Control", "no-cache"}};
  if (Contains(if_none_match, file.tag)) {
    response.status = 304;
    response.content_type.clear();
    return response;
  }
  response.content_type = std::string(file.content_type);
  response.body = std::string(file.text);
  return response;
}

}  // namespace meshwright::server
