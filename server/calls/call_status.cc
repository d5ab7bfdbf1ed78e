#include "server/calls/call_status.h"

#include <cstddef>
#include <string>

#include "base/text/field_error.h"
#include "base/text/message_text.h"
#include "proto/rpc_status.h"

namespace meshwright::server {
namespace {

// A status travels in HTTP/2 headers, of which peers accept 8 KiB; the message is in them three
// times, once percent-encoded.
constexpr size_t kMaxMessageBytesInStatus = 1000;
constexpr size_t kMaxFieldBytesInStatus = 200;

}  // namespace

grpc::Status Reply(const absl::Status& status) {
  const std::string message = ShortText(std::string(status.message()), kMaxMessageBytesInStatus);
  const absl::Status said(status.code(), message);
  const std::string field = ShortText(FieldOf(status), kMaxFieldBytesInStatus);
  if (field.empty()) return ToGrpcStatus(said);
  return ToGrpcStatus(said, {{field, message}});
}

absl::Status ServerStops() { return absl::UnavailableError("the server stops"); }

}  // namespace meshwright::server
