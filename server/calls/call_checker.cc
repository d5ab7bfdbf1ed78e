#include "server/calls/call_checker.h"

#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/calls/call_status.h"

namespace meshwright::server {
namespace {

constexpr char kPath[] = ":path";  // HTTP/2's name of the method's path

}  // namespace

// The call's metadata and connection are left unchanged: a finding kept with the connection would
// apply to the other calls that it carries.
grpc::Status CallChecker::Process(const InputMetadata& metadata, grpc::AuthContext* connection,
                                  OutputMetadata* /*consumed*/, OutputMetadata* /*response*/) {
  const absl::ReaderMutexLock lock(&mutex_);
  if (access_ == nullptr) return Reply(ServerStops());
  const auto path = metadata.find(kPath);
  const std::string_view method = path == metadata.end()
                                      ? std::string_view()
                                      : std::string_view(path->second.data(), path->second.size());
  const absl::StatusOr<std::optional<Caller>> caller =
      access_->Check(method, metadata, *connection);
  if (!caller.ok()) return Reply(caller.status());
  return Reply(*caller ? rates_->Take((*caller)->ToText()) : absl::OkStatus());
}

void CallChecker::Close() {
  const absl::MutexLock lock(&mutex_);
  access_ = nullptr;
}

}  // namespace meshwright::server
