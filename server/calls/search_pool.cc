#include "server/calls/search_pool.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/calls/call_status.h"

namespace meshwright::server {
namespace {

using Queue = WorkQueue<SearchTask>;

absl::Status Abandoned() { return absl::CancelledError("the call ended before its turn came"); }

absl::Status RefusalOf(const Queue::Answer& answer) {
  if (answer.offered == Queue::Offered::kClosed) return ServerStops();
  return absl::ResourceExhaustedError(
      absl::StrCat("the server runs ", answer.running, " searches, and ", answer.waiting,
                   " more wait, the most that it lets wait: try again later"));
}

}  // namespace

SearchPool::SearchPool(int32_t searches, int32_t most_waiting, int32_t cores)
    : most_tasks_(static_cast<size_t>(searches) + static_cast<size_t>(most_waiting)),
      queue_(searches, [cores](SearchTask task, size_t running) {
        const int32_t share = std::max(1, cores / static_cast<int32_t>(running));
        absl::Status status = task.cancelled() ? Abandoned() : task.work(share);
        // The search leaves the pool before the client gets the answer, so that its next search
        // finds room.
        return [done = std::move(task.done), status = std::move(status)] { done(status); };
      }) {}

void SearchPool::Submit(SearchTask task) {
  Queue::Answer answer = queue_.Offer(task, most_tasks_);
  std::vector<SearchTask> abandoned;
  if (answer.offered == Queue::Offered::kFull) {
    // Tasks whose clients are gone make room for others.
    abandoned = queue_.TakeIf([](const SearchTask& waiting) { return waiting.cancelled(); });
    answer = queue_.Offer(task, most_tasks_);
  }
  for (const SearchTask& left : abandoned) left.done(Abandoned());
  if (answer.offered != Queue::Offered::kTaken) task.done(RefusalOf(answer));
}

void SearchPool::Stop() {
  for (const SearchTask& task : queue_.Close()) task.done(ServerStops());
  queue_.Join();
}

}  // namespace meshwright::server
