// EscapeTexts() makes a server's texts safe to print, since they may come from any agent or client.
#pragma once

#include <memory>
#include <vector>

#include "google/protobuf/message.h"
#include "grpcpp/support/client_interceptor.h"

namespace meshwright::cli {

// Escapes characters that a terminal would interpret in all texts of the message, at any depth.
// Keeps line ends in texts that may have several lines (messages and reasons), and leaves JSON and
// CSV unchanged.
void EscapeTexts(google::protobuf::Message& message);

// Returns interceptors that call EscapeTexts() on each message that a channel receives.
std::vector<std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>>
TextEscapingInterceptors();

}  // namespace meshwright::cli
