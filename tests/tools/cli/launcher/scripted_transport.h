// ScriptedTransport is an HttpTransport that records requests and answers them from a list.
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "tools/cli/launcher/http_transport.h"

namespace meshwright::cli {

class ScriptedTransport : public HttpTransport {
 public:
  // Adds the answer to the next request whose method and path begin with `begin`, such as
  // "GET /api/v1". A request without an answer fails as if nothing listened.
  void Answer(std::string begin, absl::StatusOr<HttpAnswer> answer) {
    const absl::MutexLock lock(&mutex_);
    answers_.emplace_back(std::move(begin), std::move(answer));
  }
  // Sets the answer to all requests that begin so and for which Answer() has none left.
  void AnswerAll(std::string begin, HttpAnswer answer) {
    const absl::MutexLock lock(&mutex_);
    standing_.emplace_back(std::move(begin), std::move(answer));
  }
  // Bytes of a body that Stream() gives out one piece at a time.
  void set_piece(size_t bytes) { piece_ = bytes; }

  std::vector<HttpRequest> requests() const {
    const absl::MutexLock lock(&mutex_);
    return requests_;
  }

  absl::StatusOr<HttpAnswer> Send(const HttpRequest& request) const override {
    const absl::MutexLock lock(&mutex_);
    requests_.push_back(request);
    const std::string line = request.method + " " + request.path;
    const auto found = std::find_if(answers_.begin(), answers_.end(), [&](const auto& answer) {
      return line.starts_with(answer.first);
    });
    if (found == answers_.end()) {
      for (const auto& [begin, answer] : standing_) {
        if (line.starts_with(begin)) return answer;
      }
      return absl::UnavailableError("nothing listens");
    }
    absl::StatusOr<HttpAnswer> answer = std::move(found->second);
    answers_.erase(found);
    return answer;
  }

  absl::StatusOr<HttpAnswer> Stream(const HttpRequest& request, const BodyReader& read,
                                    const std::function<bool()>& stopped) const override {
    absl::StatusOr<HttpAnswer> answer = Send(request);
    if (!answer.ok() || answer->status != 200) return answer;
    const std::string_view body = answer->body;
    for (size_t begin = 0; begin < body.size(); begin += piece_) {
      read(body.substr(begin, piece_));
      if (stopped()) return absl::CancelledError("stopped");
    }
    return HttpAnswer{.status = 200};
  }

 private:
  mutable absl::Mutex mutex_;
  mutable std::deque<std::pair<std::string, absl::StatusOr<HttpAnswer>>> answers_;
  std::vector<std::pair<std::string, HttpAnswer>> standing_;
  mutable std::vector<HttpRequest> requests_;
  size_t piece_ = 1 << 20;
};

}  // namespace meshwright::cli
