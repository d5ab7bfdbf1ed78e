#include "executor/wire/field_limits.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/status_macros.h"
#include "google/protobuf/descriptor.h"
#include "planner/layout/condition_parser.h"

namespace meshwright::wire {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

struct TextLimit {
  std::string_view ending;  // of the field's name
  size_t most_bytes;
  bool is_printed_in_a_line = false;  // and has no control characters
};

// The first one that fits counts.
constexpr TextLimit kTextLimits[] = {
    {"_json", kMaxSpecBytes},
    {"text", kMaxSpecBytes},  // of a framework's file
    {"message", 64 << 10},    // the tail of a worker's output with it
    {"command", 64 << 10},
    {"log_end", 16 << 10},
    {"reason", 4 << 10},  // a sentence
    {"where", planner::kMostFilterBytes},
    {"filter", planner::kMostFilterBytes},
    {"csv", 4 << 20},    // some 20,000 rows
    {"notes", 4 << 10},  // of such a row
    {"", 256, true},     // names, hosts, versions, kinds, layouts, tokens
};

const TextLimit& LimitOf(std::string_view field) {
  return *std::find_if(std::begin(kTextLimits), std::end(kTextLimits),
                       [&](const TextLimit& limit) { return field.ends_with(limit.ending); });
}

absl::Status CheckText(const FieldDescriptor& field, const std::string& path,
                       const std::string& text) {
  const TextLimit& limit = LimitOf(field.name());
  if (text.size() > limit.most_bytes) {
    return FieldError(path, absl::StrCat("(", text.size(), " bytes)"),
                      absl::StrCat("must be at most ", limit.most_bytes, " bytes"));
  }
  // A terminal that shows it would obey them.
  const bool has_controls = field.type() != FieldDescriptor::TYPE_BYTES &&
                            std::any_of(text.begin(), text.end(), absl::ascii_iscntrl);
  if (!limit.is_printed_in_a_line || !has_controls) return absl::OkStatus();
  return FieldError(path, text, "must have no control characters");
}

absl::Status CheckMessage(const Message& message, const std::string& prefix);

absl::Status CheckList(const Message& message, const FieldDescriptor& field,
                       const std::string& path) {
  const Reflection& reflection = *message.GetReflection();
  const int entries = reflection.FieldSize(message, &field);
  if (entries > kMaxListEntries) {
    return FieldError(path, absl::StrCat("(", entries, " entries)"),
                      absl::StrCat("must have at most ", kMaxListEntries));
  }
  for (int i = 0; i < entries; ++i) {
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      std::string scratch;
      RETURN_IF_ERROR(CheckText(
          field, path, reflection.GetRepeatedStringReference(message, &field, i, &scratch)));
    } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      RETURN_IF_ERROR(CheckMessage(reflection.GetRepeatedMessage(message, &field, i), path + "."));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckMessage(const Message& message, const std::string& prefix) {
  const Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);  // those that are set
  for (const FieldDescriptor* field : fields) {
    const std::string path = prefix + field->name();
    if (field->is_repeated()) {
      RETURN_IF_ERROR(CheckList(message, *field, path));
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      std::string scratch;
      RETURN_IF_ERROR(
          CheckText(*field, path, reflection.GetStringReference(message, field, &scratch)));
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      RETURN_IF_ERROR(CheckMessage(reflection.GetMessage(message, field), path + "."));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckLimits(const Message& message) {
  RETURN_IF_ERROR(CheckMessage(message, ""));
  const bool is_request = std::string_view(message.GetDescriptor()->name()).ends_with("Request");
  const size_t most_bytes = is_request ? kMaxRequestBytes : kMaxMessageBytes;
  const size_t bytes = message.ByteSizeLong();
  if (bytes <= most_bytes) return absl::OkStatus();
  return FieldError("request", absl::StrCat("(", bytes, " bytes)"),
                    absl::StrCat("must be at most ", most_bytes, " bytes"));
}

}  // namespace meshwright::wire
