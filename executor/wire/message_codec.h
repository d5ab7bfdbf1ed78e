// Structs with fields (planner/codec/fields.h) as protobuf messages, and back: the same visit that
// makes their JSON fills the message's fields of the same names.
//
// A text is written as valid UTF-8: no message is lost for one bad byte. An enum of names may be an
// enum of the message, whose enumerators are the names in capitals behind what its first one,
// `..._UNSPECIFIED`, has before that word; the empty name is UNSPECIFIED. An optional is absent
// without a value.
//
// REQUIRES of a struct and its message, which tests/executor/wire/message_names_test.cc holds for
// all of them: every field of the one is a field of the other, of the same name and type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "base/text/field_error.h"
#include "base/text/string_view.h"
#include "google/protobuf/generated_enum_reflection.h"
#include "google/protobuf/message.h"
#include "planner/codec/fields.h"

namespace meshwright::wire {

// The name of `field` in a message.
inline std::string_view MessageName(const planner::Field& field) {
  return field.message_name.empty() ? field.name : field.message_name;
}

// The field of `message`'s type that `field` names.
const google::protobuf::FieldDescriptor& FieldNamed(const google::protobuf::Message& message,
                                                    const planner::Field& field);

// The enumerator that `text` names; null where none is.
const google::protobuf::EnumValueDescriptor* EnumeratorOf(
    const google::protobuf::EnumDescriptor& type, std::string_view text);
// The name of an enumerator; its number where it has none here.
std::string EnumeratorName(const google::protobuf::EnumDescriptor& type, int number);

// The same for an enum of the messages; UNSPECIFIED where `text` names none of them.
template <typename Enum>
std::string TextOf(Enum value) {
  return EnumeratorName(*google::protobuf::GetEnumDescriptor<Enum>(), value);
}
template <typename Enum>
Enum EnumOf(std::string_view text) {
  const auto* found = EnumeratorOf(*google::protobuf::GetEnumDescriptor<Enum>(), text);
  return static_cast<Enum>(found == nullptr ? 0 : found->number());
}

// Sets a field, or adds an entry to one that is a list.
void PutValue(google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field,
              bool value);
void PutValue(google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field,
              int32_t value);
void PutValue(google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field,
              int64_t value);
void PutValue(google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field,
              uint64_t value);
void PutValue(google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field,
              double value);
// A text, or the enumerator that it names: UNSPECIFIED where it names none.
void PutValue(google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field,
              std::string_view value);
google::protobuf::Message& PutMessage(google::protobuf::Message& message,
                                      const google::protobuf::FieldDescriptor& field);

// A field, or entry `index` of one that is a list; -1 for a field.
void GetValue(const google::protobuf::Message& message,
              const google::protobuf::FieldDescriptor& field, int index, bool& value);
void GetValue(const google::protobuf::Message& message,
              const google::protobuf::FieldDescriptor& field, int index, int32_t& value);
void GetValue(const google::protobuf::Message& message,
              const google::protobuf::FieldDescriptor& field, int index, int64_t& value);
void GetValue(const google::protobuf::Message& message,
              const google::protobuf::FieldDescriptor& field, int index, uint64_t& value);
void GetValue(const google::protobuf::Message& message,
              const google::protobuf::FieldDescriptor& field, int index, double& value);
// A text, or an enumerator's name; its number where it has none here.
void GetValue(const google::protobuf::Message& message,
              const google::protobuf::FieldDescriptor& field, int index, std::string& value);

class MessageWriter {
 public:
  explicit MessageWriter(google::protobuf::Message& to) : to_(to) {}

  template <typename T>
  void operator()(const planner::Field& field, const T& value) {
    if (!field.only_text) Put(FieldNamed(to_, field), value);
  }
  template <typename T, typename Names>
  void operator()(const planner::Field& field, const T& value, const Names& names) {
    if (!field.only_text) PutValue(to_, FieldNamed(to_, field), planner::TextBy(names, value));
  }
  template <typename T, typename Names>
  void operator()(const planner::Field& field, const std::optional<T>& value, const Names& names) {
    if (value.has_value()) (*this)(field, *value, names);
  }
  template <typename T>
  void Derived(const planner::Field& field, const T& value) {
    (*this)(field, value);
  }

 private:
  using FieldDescriptor = google::protobuf::FieldDescriptor;

  template <typename T>
  void Put(const FieldDescriptor& field, const T& value) {
    if constexpr (planner::HasFields<const T>) {
      MessageWriter inner(PutMessage(to_, field));
      VisitFields(value, inner);
    } else {
      PutValue(to_, field, value);
    }
  }
  template <typename T>
  void Put(const FieldDescriptor& field, const std::optional<T>& value) {
    if (value.has_value()) Put(field, *value);
  }
  template <typename T>
  void Put(const FieldDescriptor& field, const std::vector<T>& values) {
    for (const T& value : values) Put(field, value);
  }
  template <typename T>
  void Put(const FieldDescriptor& field, const std::map<std::string, T>& values) {
    for (const auto& [key, value] : values) PutEntry(field, key, value);
  }
  template <typename T>
  void Put(const FieldDescriptor& field, const planner::OrderedMap<T>& values) {
    for (const auto& [key, value] : values) PutEntry(field, key, value);
  }
  template <typename T>
  void PutEntry(const FieldDescriptor& field, const std::string& key, const T& value) {
    MessageWriter entry(PutMessage(to_, field));
    entry("key", key);
    entry("value", value);
  }

  google::protobuf::Message& to_;
};

// Once something was wrong nothing more is read.
class MessageReader {
 public:
  MessageReader(const google::protobuf::Message& from, const FieldPath& path, absl::Status& status)
      : from_(from), path_(path), status_(status) {}

  template <typename T>
  void operator()(const planner::Field& field, T& value) {
    if (field.only_text || !status_.ok()) return;
    Get(FieldNamed(from_, field), -1, {path_, field.name}, value);
  }
  template <typename T, typename Names>
  void operator()(const planner::Field& field, T& value, const Names& names) {
    if (field.only_text || !status_.ok()) return;
    std::string text;
    GetValue(from_, FieldNamed(from_, field), -1, text);
    Respell(names, text);
    absl::StatusOr<T> read = planner::ParseBy(names, FieldPath(path_, field.name).ToText(), text);
    if (read.ok()) {
      value = *std::move(read);
    } else {
      status_ = read.status();
    }
  }
  template <typename T, typename Names>
  void operator()(const planner::Field& field, std::optional<T>& value, const Names& names) {
    if (field.only_text || !Has(FieldNamed(from_, field))) return;
    (*this)(field, value.emplace(), names);
  }
  template <typename T>
  void Derived(const planner::Field&, const T&) {}

 private:
  using FieldDescriptor = google::protobuf::FieldDescriptor;

  // An enumerator has the letters of its name in capitals alone.
  template <typename T, size_t kCount>
  static void Respell(const EnumNames<T, kCount>& names, std::string& text) {
    for (const auto& entry : names) {
      const absl::string_view name = AbslView(entry.second);
      if (absl::EqualsIgnoreCase(name, text)) text = std::string(name);
    }
  }
  template <typename ToText, typename Parse>
  static void Respell(const planner::TextForm<ToText, Parse>&, std::string&) {}

  bool Has(const FieldDescriptor& field) const {
    return from_.GetReflection()->HasField(from_, &field);
  }
  // `field`, or entry `index` of it.
  const google::protobuf::Message& Inner(const FieldDescriptor& field, int index) const {
    return index < 0 ? from_.GetReflection()->GetMessage(from_, &field)
                     : from_.GetReflection()->GetRepeatedMessage(from_, &field, index);
  }
  int Entries(const FieldDescriptor& field) const {
    return from_.GetReflection()->FieldSize(from_, &field);
  }

  template <typename T>
  void Get(const FieldDescriptor& field, int index, const FieldPath& path, T& value) {
    if constexpr (planner::HasFields<T>) {
      if (index < 0 && !Has(field)) return;
      MessageReader inner(Inner(field, index), path, status_);
      VisitFields(value, inner);
    } else {
      GetValue(from_, field, index, value);
    }
  }
  template <typename T>
  void Get(const FieldDescriptor& field, int index, const FieldPath& path,
           std::optional<T>& value) {
    if (Has(field)) Get(field, index, path, value.emplace());
  }
  template <typename T>
  void Get(const FieldDescriptor& field, int, const FieldPath& path, std::vector<T>& values) {
    values.assign(static_cast<size_t>(Entries(field)), T{});
    for (int i = 0; i < Entries(field) && status_.ok(); ++i) {
      const auto index = static_cast<size_t>(i);
      Get(field, i, FieldPath(path, index), values[index]);
    }
  }
  template <typename T>
  void Get(const FieldDescriptor& field, int, const FieldPath& path,
           std::map<std::string, T>& values) {
    for (int i = 0; i < Entries(field); ++i) {
      std::string key;
      MessageReader entry(Inner(field, i), path, status_);
      entry("key", key);
      entry("value", values[key]);
    }
  }
  template <typename T>
  void Get(const FieldDescriptor& field, int, const FieldPath& path,
           planner::OrderedMap<T>& values) {
    values.clear();
    for (int i = 0; i < Entries(field); ++i) {
      auto& [key, value] = values.emplace_back();
      MessageReader entry(Inner(field, i), path, status_);
      entry("key", key);
      entry("value", value);
    }
  }

  const google::protobuf::Message& from_;
  const FieldPath& path_;
  absl::Status& status_;
};

template <typename Message, planner::HasFields T>
Message WriteMessage(const T& value) {
  Message message;
  MessageWriter writer(message);
  VisitFields(value, writer);
  return message;
}

// InvalidArgument names the field by its path, with its value and what would be accepted.
template <planner::HasFields T>
absl::StatusOr<T> ReadMessage(const google::protobuf::Message& message) {
  T value{};
  absl::Status status;
  const FieldPath root("");
  MessageReader reader(message, root, status);
  VisitFields(value, reader);
  if (!status.ok()) return status;
  return value;
}

}  // namespace meshwright::wire
