#include "tools/cli/mcp/json_rpc.h"

#include <utility>

#include "base/text/json_text.h"

namespace meshwright::cli {
namespace {

using nlohmann::ordered_json;

// An id is a text or a whole number.
bool IsRpcId(const ordered_json& id) { return id.is_string() || id.is_number_integer(); }

std::string RpcLine(ordered_json message) {
  ordered_json line = {{"jsonrpc", "2.0"}};
  line.update(message);
  return line.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

RpcRead Refused(const ordered_json& id, int code, std::string_view message) {
  return {.message = {}, .refusal = RpcRefusal{RpcError(id, code, message)}};
}

}  // namespace

RpcRead ReadRpc(std::string_view line) {
  absl::StatusOr<ordered_json> json = ParseOrderedJson("message", line);
  if (!json.ok()) {
    return Refused(nullptr, kRpcParseError, std::string(json.status().message()));
  }
  if (!json->is_object() || json->value("jsonrpc", ordered_json()) != "2.0") {
    return Refused(nullptr, kRpcInvalidRequest,
                   "a message must be an object with \"jsonrpc\": \"2.0\"");
  }
  if (!json->contains("method") && (json->contains("result") || json->contains("error"))) return {};
  RpcMessage message;
  if (const auto id = json->find("id"); id != json->end()) {
    if (!IsRpcId(*id)) {
      return Refused(nullptr, kRpcInvalidRequest, "`id` must be a text or a whole number");
    }
    message.id = *id;
  }
  const ordered_json id = message.id.value_or(nullptr);
  const auto method = json->find("method");
  if (method == json->end() || !method->is_string()) {
    return Refused(id, kRpcInvalidRequest, "`method` must be a text");
  }
  message.method = method->get<std::string>();
  if (const auto params = json->find("params"); params != json->end()) {
    if (!params->is_object()) {
      return Refused(id, kRpcInvalidParams, "`params` must be an object");
    }
    message.params = std::move(*params);
  }
  return {.message = std::move(message), .refusal = {}};
}

std::string RpcResult(const ordered_json& id, ordered_json result) {
  return RpcLine({{"id", id}, {"result", std::move(result)}});
}

std::string RpcError(const ordered_json& id, int code, std::string_view message) {
  return RpcLine({{"id", id}, {"error", {{"code", code}, {"message", message}}}});
}

std::string RpcNotification(std::string_view method, ordered_json params) {
  return RpcLine({{"method", method}, {"params", std::move(params)}});
}

}  // namespace meshwright::cli
