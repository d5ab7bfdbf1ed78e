// A Task runs one command on a thread of its own and collects its events
// (tools/library/meshwright.h).
#pragma once

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "absl/time/time.h"
#include "tools/library/event_queue.h"
#include "tools/library/session.h"

namespace meshwright::library {

class Task {
 public:
  // Starts the request, which is JSON text.
  Task(std::shared_ptr<const Session> session, std::string_view request);
  // Cancels the task and waits for its end.
  ~Task();
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  // Returns the next event; nullopt if no event comes within `timeout`, or if the last event was
  // taken before. If another process started the task, returns a last event with the error.
  std::optional<Event> Next(absl::Duration timeout);
  // Waits for the end and returns {"outputs": […], "done": {…}}, which have all events but
  // progress.
  std::string Answer();
  void Cancel() { cancelled_.store(true); }

  // Returns whether this process started the task. The task's thread exists in no other process.
  bool IsOwn() const;

 private:
  void Run(const std::string& request);

  const std::shared_ptr<const Session> session_;
  const pid_t process_;
  std::atomic<bool> cancelled_{false};
  EventQueue events_;
  std::thread thread_;  // last: it uses the other members. No thread for another process's session.
};

}  // namespace meshwright::library
