// Makes what a server sends safe to print: its texts may come from any agent or client.
#pragma once

#include <memory>
#include <vector>

#include "google/protobuf/message.h"
#include "grpcpp/support/client_interceptor.h"

namespace meshwright::cli {

// Escapes what a terminal would interpret in all texts of the message, at any depth. Line ends stay
// in texts that may have several lines (messages and reasons), and JSON and CSV stay as they are.
void EscapeTexts(google::protobuf::Message& message);

// Returns interceptors that do so with each message that a channel receives.
std::vector<std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>>
TextEscapingInterceptors();

}  // namespace meshwright::cli
