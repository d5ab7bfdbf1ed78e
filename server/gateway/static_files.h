// StaticFiles answers with the page's files, which are part of the program.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "planner/data/embedded.h"
#include "server/http/http_message.h"

namespace meshwright::server {

class StaticFiles {
 public:
  // The name of a file is its path without the first "/". REQUIRES: the files' texts outlive this
  // object.
  explicit StaticFiles(absl::Span<const planner::EmbeddedFile> files);

  // Returns the file at the path of a request, such as "/views/plan.js"; the path "/" stands for
  // index.html. If `if_none_match`, the value of the request's If-None-Match, has the file's entity
  // tag, returns 304 without the file. Returns nullopt if there is no such file.
  std::optional<HttpResponse> Find(std::string_view path, std::string_view if_none_match) const;

 private:
  struct File {
    std::string_view text;
    std::string_view content_type;
    std::string tag;  // with its quotes
  };

  std::map<std::string, File, std::less<>> files_;  // by path
};

}  // namespace meshwright::server
