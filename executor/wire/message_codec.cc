#include "executor/wire/message_codec.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/text/string_view.h"
#include "base/text/utf8.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/stubs/logging.h"

namespace meshwright::wire {
namespace {

using google::protobuf::EnumDescriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr std::string_view kUnspecified = "UNSPECIFIED";

// "OUTCOME_" of an enum whose first enumerator is OUTCOME_UNSPECIFIED.
std::string PrefixOf(const EnumDescriptor& type) {
  const std::string& first = type.value(0)->name();
  GOOGLE_CHECK(first.ends_with(kUnspecified)) << type.full_name() << " begins with " << first;
  return first.substr(0, first.size() - kUnspecified.size());
}

}  // namespace

const FieldDescriptor& FieldNamed(const Message& message, const planner::Field& field) {
  // A result has a hundred fields, and looking one up by its text takes longer than reading it.
  // Names are literals: where one stands in memory tells it from most others.
  thread_local std::map<std::pair<const void*, const void*>, const FieldDescriptor*> known;
  const std::string_view name = MessageName(field);
  const FieldDescriptor*& found = known[{message.GetDescriptor(), name.data()}];
  if (found == nullptr || found->name() != name) {
    found = message.GetDescriptor()->FindFieldByName(std::string(name));
  }
  GOOGLE_CHECK(found != nullptr) << message.GetTypeName() << " has no field " << std::string(name);
  return *found;
}

const EnumValueDescriptor* EnumeratorOf(const EnumDescriptor& type, std::string_view text) {
  if (text.empty()) return type.value(0);
  std::string name = absl::AsciiStrToUpper(AbslView(text));
  std::replace(name.begin(), name.end(), '-', '_');  // "fp8-delayed"
  return type.FindValueByName(PrefixOf(type) + name);
}

std::string EnumeratorName(const EnumDescriptor& type, int number) {
  if (number == 0) return "";
  const EnumValueDescriptor* value = type.FindValueByNumber(number);
  if (value == nullptr) return absl::StrCat(number);
  return absl::AsciiStrToLower(value->name().substr(PrefixOf(type).size()));
}

void PutValue(Message& message, const FieldDescriptor& field, bool value) {
  const Reflection& to = *message.GetReflection();
  field.is_repeated() ? to.AddBool(&message, &field, value) : to.SetBool(&message, &field, value);
}

void PutValue(Message& message, const FieldDescriptor& field, int32_t value) {
  const Reflection& to = *message.GetReflection();
  field.is_repeated() ? to.AddInt32(&message, &field, value) : to.SetInt32(&message, &field, value);
}

void PutValue(Message& message, const FieldDescriptor& field, int64_t value) {
  const Reflection& to = *message.GetReflection();
  field.is_repeated() ? to.AddInt64(&message, &field, value) : to.SetInt64(&message, &field, value);
}

void PutValue(Message& message, const FieldDescriptor& field, uint64_t value) {
  const Reflection& to = *message.GetReflection();
  field.is_repeated() ? to.AddUInt64(&message, &field, value)
                      : to.SetUInt64(&message, &field, value);
}

void PutValue(Message& message, const FieldDescriptor& field, double value) {
  const Reflection& to = *message.GetReflection();
  field.is_repeated() ? to.AddDouble(&message, &field, value)
                      : to.SetDouble(&message, &field, value);
}

void PutValue(Message& message, const FieldDescriptor& field, std::string_view value) {
  const Reflection& to = *message.GetReflection();
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
    if (const auto* found = EnumeratorOf(*field.enum_type(), value)) {
      to.SetEnum(&message, &field, found);
    }
    return;
  }
  field.is_repeated() ? to.AddString(&message, &field, ValidUtf8(value))
                      : to.SetString(&message, &field, ValidUtf8(value));
}

Message& PutMessage(Message& message, const FieldDescriptor& field) {
  const Reflection& to = *message.GetReflection();
  return field.is_repeated() ? *to.AddMessage(&message, &field)
                             : *to.MutableMessage(&message, &field);
}

void GetValue(const Message& message, const FieldDescriptor& field, int index, bool& value) {
  const Reflection& from = *message.GetReflection();
  value = index < 0 ? from.GetBool(message, &field) : from.GetRepeatedBool(message, &field, index);
}

void GetValue(const Message& message, const FieldDescriptor& field, int index, int32_t& value) {
  const Reflection& from = *message.GetReflection();
  value =
      index < 0 ? from.GetInt32(message, &field) : from.GetRepeatedInt32(message, &field, index);
}

void GetValue(const Message& message, const FieldDescriptor& field, int index, int64_t& value) {
  const Reflection& from = *message.GetReflection();
  value =
      index < 0 ? from.GetInt64(message, &field) : from.GetRepeatedInt64(message, &field, index);
}

void GetValue(const Message& message, const FieldDescriptor& field, int index, uint64_t& value) {
  const Reflection& from = *message.GetReflection();
  value =
      index < 0 ? from.GetUInt64(message, &field) : from.GetRepeatedUInt64(message, &field, index);
}

void GetValue(const Message& message, const FieldDescriptor& field, int index, double& value) {
  const Reflection& from = *message.GetReflection();
  value =
      index < 0 ? from.GetDouble(message, &field) : from.GetRepeatedDouble(message, &field, index);
}

void GetValue(const Message& message, const FieldDescriptor& field, int index, std::string& value) {
  const Reflection& from = *message.GetReflection();
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
    value = EnumeratorName(*field.enum_type(), from.GetEnumValue(message, &field));
    return;
  }
  value =
      index < 0 ? from.GetString(message, &field) : from.GetRepeatedString(message, &field, index);
}

}  // namespace meshwright::wire
