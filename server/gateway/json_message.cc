#include "server/gateway/json_message.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/message_text.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "google/protobuf/util/json_util.h"
#include "google/protobuf/util/type_resolver.h"
#include "google/protobuf/util/type_resolver_util.h"

namespace meshwright::server {
namespace {

namespace util = google::protobuf::util;

constexpr std::string_view kPackage = "/meshwright.v1.";
constexpr char kTypePrefix[] = "type.googleapis.com";
constexpr size_t kMostReasonShown = 400;

// Looks types up among those of this program; safe for use by several threads.
util::TypeResolver* OwnTypes() {
  static util::TypeResolver* const kTypes = util::NewTypeResolverForDescriptorPool(
      kTypePrefix, google::protobuf::DescriptorPool::generated_pool());
  return kTypes;
}

std::string TypeUrl(const google::protobuf::Descriptor& type) {
  return absl::StrCat(kTypePrefix, "/", type.full_name());
}

std::string ReasonOf(const util::Status& status) {
  return EscapeControls(ShortText(std::string(status.message().ToString()), kMostReasonShown));
}

}  // namespace

const google::protobuf::MethodDescriptor* FindJsonMethod(std::string_view path) {
  if (!path.starts_with(kPackage) || std::count(path.begin(), path.end(), '/') != 2) return nullptr;
  const std::string name = absl::StrReplaceAll(AbslView(path.substr(1)), {{"/", "."}});
  const google::protobuf::MethodDescriptor* const method =
      google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(name);
  return method == nullptr || method->client_streaming() ? nullptr : method;
}

absl::StatusOr<std::string> BinaryOfJson(const google::protobuf::Descriptor& type,
                                         std::string_view json) {
  // It is stricter than protobuf's own reader, and says where the text is wrong.
  RETURN_IF_ERROR(ParseJson("body", json).status());
  std::string bytes;
  const util::Status status = util::JsonToBinaryString(
      OwnTypes(), TypeUrl(type), google::protobuf::StringPiece(json.data(), json.size()), &bytes);
  if (status.ok()) return bytes;
  return WithField(
      absl::InvalidArgumentError(absl::StrCat("the request's body must be a ", type.full_name(),
                                              " in JSON: ", ReasonOf(status))),
      "body");
}

absl::StatusOr<std::string> JsonOfBinary(const google::protobuf::Descriptor& type,
                                         const std::string& bytes) {
  util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string json;
  const util::Status status =
      util::BinaryToJsonString(OwnTypes(), TypeUrl(type), bytes, &json, options);
  if (status.ok()) return json;
  return absl::InternalError(absl::StrCat("can't write the answer as JSON: ", ReasonOf(status)));
}

}  // namespace meshwright::server
