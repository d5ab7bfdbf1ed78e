// These functions read and write JSON-RPC 2.0 as the Model Context Protocol uses it: one message a
// line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace meshwright::cli {

// Codes of JSON-RPC's errors.
inline constexpr int kRpcParseError = -32700;
inline constexpr int kRpcInvalidRequest = -32600;
inline constexpr int kRpcUnknownMethod = -32601;
inline constexpr int kRpcInvalidParams = -32602;

// A request, or a notification, which has no id and gets no response.
struct RpcMessage {
  std::optional<nlohmann::ordered_json> id;
  std::string method;
  nlohmann::ordered_json params = nlohmann::ordered_json::object();
};

// A message that could not be read, and the response that says so.
struct RpcRefusal {
  std::string response;
};

// What ReadRpc() read from a line: a message, or a refusal if the line is not a valid message. Both
// are nullopt for a response, since this program sends no requests.
struct RpcRead {
  std::optional<RpcMessage> message;
  std::optional<RpcRefusal> refusal;
};
RpcRead ReadRpc(std::string_view line);

// Return messages as lines without a line end.
std::string RpcResult(const nlohmann::ordered_json& id, nlohmann::ordered_json result);
std::string RpcError(const nlohmann::ordered_json& id, int code, std::string_view message);
std::string RpcNotification(std::string_view method, nlohmann::ordered_json params);

}  // namespace meshwright::cli
