// Writes structs with fields (planner/codec/fields.h) as JSON, and reads them back.
//
// Texts are written as valid UTF-8. A vector becomes a list, a map an object, and a set of
// enumerators the list of their names. An optional without a value is left out. In reading, null
// counts as absent. An error names the field by its path, such as "ranks[2].phases.bubble_s", with
// its value and what would be accepted.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/text/utf8.h"
#include "nlohmann/json.hpp"
#include "planner/codec/fields.h"
#include "planner/codec/json_values.h"
#include "planner/containers/enum_set.h"

namespace meshwright::planner {

// JSON that was written elsewhere, with the fields of T.
template <typename T>
struct WrittenJson {
  nlohmann::ordered_json json;
};

template <typename T>
concept HasName = HasFields<T> && requires(T& value) {
  { value.name } -> std::convertible_to<std::string>;
};

// Writes fields into a JSON object, or into an array if the struct is written as a list.
template <typename Json>
class JsonWriter {
 public:
  JsonWriter(Json& to, TextParts parts) : to_(to), parts_(parts) {}

  template <typename T>
  void operator()(const Field& field, const T& value) {
    if (Skips(field)) return;
    Write(field, value);
  }
  template <typename T, typename Names>
  void operator()(const Field& field, const T& value, const Names& names) {
    if (Skips(field)) return;
    WriteNamed(field, value, names);
  }
  template <typename T>
  void Derived(const Field& field, const T& value) {
    (*this)(field, value);
  }

 private:
  bool Skips(const Field& field) {
    if (field.only_wire || (field.parts & parts_) == 0) return true;
    if (field.present) return false;
    if (field.or_null) Put(field, nullptr);
    return true;
  }

  void Put(const Field& field, Json value) {
    if (to_.is_array()) {
      to_.push_back(std::move(value));
    } else {
      to_[std::string(field.name)] = std::move(value);
    }
  }

  template <typename T>
  void Write(const Field& field, const std::optional<T>& value) {
    if (value.has_value()) {
      Write(field, *value);
    } else if (field.or_null) {
      Put(field, nullptr);
    }
  }
  template <typename T>
  void Write(const Field& field, const WrittenJson<T>& written) {
    if (!field.inside) return Put(field, Json(written.json));
    for (const auto& [key, value] : written.json.items()) to_[key] = value;
  }
  template <typename T>
  void Write(const Field& field, const T& value) {
    if constexpr (HasFields<const T>) {
      if (field.inside) {
        VisitFields(value, *this);
        return;
      }
    }
    Put(field, ValueOf(field, value));
  }

  template <typename T, typename Names>
  void WriteNamed(const Field& field, const std::optional<T>& value, const Names& names) {
    if (value.has_value()) {
      WriteNamed(field, *value, names);
    } else if (field.or_null) {
      Put(field, nullptr);
    }
  }
  template <typename T, typename Names>
  void WriteNamed(const Field& field, const T& value, const Names& names) {
    Put(field, TextBy(names, value));
  }
  template <typename Kind, typename Names>
  void WriteNamed(const Field& field, const EnumSet<Kind>& set, const Names& names) {
    Json list = Json::array();
    set.ForEach([&](Kind kind) { list.push_back(TextBy(names, kind)); });
    Put(field, std::move(list));
  }

  template <typename T>
  Json ValueOf(const Field& field, const T& value) {
    if constexpr (HasFields<const T>) {
      Json object = field.as_list ? Json::array() : Json::object();
      for (size_t i = 0; i < field.text_parts.size(); ++i) {
        Json& part = object[std::string(field.text_parts[i].name)] = Json::object();
        JsonWriter inner(part, static_cast<TextParts>(1u << i));
        VisitFields(value, inner);
      }
      if (field.text_parts.empty()) {
        JsonWriter inner(object, parts_);
        VisitFields(value, inner);
      }
      return object;
    } else if constexpr (std::is_same_v<T, NoValue>) {
      return nullptr;  // only messages have it
    } else {
      return Json(value);
    }
  }
  Json ValueOf(const Field&, const std::string& text) { return ValidUtf8(text); }
  Json ValueOf(const Field&, std::string_view text) { return ValidUtf8(text); }
  template <typename T>
  Json ValueOf(const Field& field, const std::vector<T>& values) {
    if constexpr (HasName<T>) {
      if (field.by_name) {
        Json object = Json::object();
        for (const T& value : values) object[ValidUtf8(value.name)] = ValueOf(field, value);
        return object;
      }
    }
    Json list = Json::array();
    for (const T& value : values) list.push_back(ValueOf(field, value));
    return list;
  }
  template <typename T>
  Json ValueOf(const Field& field, const std::map<std::string, T>& values) {
    Json object = Json::object();
    for (const auto& [key, value] : values) object[ValidUtf8(key)] = ValueOf(field, value);
    return object;
  }
  template <typename T>
  Json ValueOf(const Field& field, const OrderedMap<T>& values) {
    Json object = Json::object();
    for (const auto& [key, value] : values) object[ValidUtf8(key)] = ValueOf(field, value);
    return object;
  }

  Json& to_;
  const TextParts parts_;
};

// Reads fields from a JSON object, or from an array. Nothing more is read after the first problem.
class JsonReader {
 public:
  JsonReader(const nlohmann::json& from, const FieldPath& path, JsonProblem& problem,
             TextParts parts, bool open)
      : from_(from), path_(path), problem_(problem), parts_(parts), open_(open) {}

  template <typename T>
  void operator()(const Field& field, T& value) {
    if (Skips(field)) return;
    if (field.inside) {
      ReadInside(value);
    } else if (const nlohmann::json* found = Lookup(field)) {
      Read(*found, PathOf(field), field, value);
    } else if (field.needed) {
      NoteAbsent(field, NeedsOf(value));
    }
  }
  template <typename T, typename Names>
  void operator()(const Field& field, T& value, const Names& names) {
    if (Skips(field)) return;
    if (const nlohmann::json* found = Find(field)) {
      std::string text;
      if (ReadText(*found, PathOf(field), problem_, text)) {
        ReadNamed(text, PathOf(field), value, names);
      }
    }
  }
  template <typename Kind, typename Names>
  void operator()(const Field& field, EnumSet<Kind>& set, const Names& names) {
    if (Skips(field)) return;
    const nlohmann::json* found = Find(field);
    if (found == nullptr) return;
    const FieldPath list = PathOf(field);
    if (!problem_.CheckContainer(*found, list, /*list=*/true)) return;
    set = {};
    for (size_t i = 0; i < found->size() && !problem_.found(); ++i) {
      std::string text;
      Kind kind{};
      const FieldPath path(list, i);
      if (ReadText((*found)[i], path, problem_, text)) ReadNamed(text, path, kind, names);
      if (!problem_.found()) set.Add(kind);
    }
  }
  template <typename T>
  void Derived(const Field& field, const T&) {
    if (!from_.is_array()) Find({field.name});
  }

  // Fails if the object has a key that no field has.
  void RefuseUnknownKeys() const { problem_.RefuseUnknown(from_, path_, asked_); }

 private:
  // Notes the name of the first field that is visited.
  struct FirstName {
    template <typename... Arguments>
    void operator()(const Field& field, Arguments&&...) {
      if (name.empty()) name = field.name;
    }
    template <typename T>
    void Derived(const Field&, const T&) {}

    std::string name;
  };

  bool Skips(const Field& field) const {
    return problem_.found() || field.only_wire || (field.parts & parts_) == 0;
  }
  // Notes the names of needed fields.
  struct NeededNames {
    template <typename... Arguments>
    void operator()(const Field& field, Arguments&&...) {
      if (field.needed) names.emplace_back(field.name);
    }
    template <typename T>
    void Derived(const Field&, const T&) {}

    std::vector<std::string> names;
  };
  // Returns the fields that a struct needs; none for other values.
  template <typename T>
  static std::vector<std::string> NeedsOf(T& value) {
    NeededNames needed;
    if constexpr (HasFields<T>) VisitFields(value, needed);
    return needed.names;
  }

  // Returns the field's value, or null if it is absent.
  const nlohmann::json* Lookup(const Field& field);
  // Notes that the needed field is absent. If `inside` is not empty, notes these needed fields of
  // its struct instead.
  void NoteAbsent(const Field& field, const std::vector<std::string>& inside);
  // Returns the field's value, or null if it is absent. An absent field that is needed is noted.
  const nlohmann::json* Find(const Field& field);
  FieldPath PathOf(const Field& field) const {
    return from_.is_array() ? FieldPath(path_, next_ - 1) : FieldPath(path_, field.name);
  }

  template <typename T>
  void ReadInside(T& value) {
    if constexpr (HasFields<T>) VisitFields(value, *this);
  }
  template <typename T>
  void ReadInside(std::optional<T>& value) {
    if constexpr (HasFields<T>) {
      T read{};
      FirstName first;
      VisitFields(read, first);
      const bool there = from_.contains(first.name) && !from_[first.name].is_null();
      // Both branches mark the fields' names as known, so that their keys are not refused.
      if (there) {
        VisitFields(read, *this);
        value = std::move(read);
      } else {
        KnownNames known{*this};
        VisitFields(read, known);
      }
    }
  }
  struct KnownNames {
    template <typename... Arguments>
    void operator()(const Field& field, Arguments&&...) {
      reader.Find({field.name});
    }
    template <typename T>
    void Derived(const Field&, const T&) {}

    JsonReader& reader;
  };

  template <typename T>
  void Read(const nlohmann::json& from, const FieldPath& path, const Field& field, T& value) {
    if constexpr (HasFields<T>) {
      for (size_t i = 0; i < field.text_parts.size(); ++i) {
        ReadPart(from, path, field.text_parts[i].name, static_cast<TextParts>(1u << i), value);
      }
      if (!field.text_parts.empty()) return;
      if (!problem_.CheckContainer(from, path, field.as_list)) return;
      JsonReader inner(from, path, problem_, parts_, open_ || field.open);
      VisitFields(value, inner);
      if (!inner.open_ && !field.as_list) inner.RefuseUnknownKeys();
    } else {
      ReadScalar(from, path, problem_, value);
    }
  }
  template <typename T>
  void ReadPart(const nlohmann::json& from, const FieldPath& path, std::string_view name,
                TextParts part, T& value) {
    const FieldPath inside(path, name);
    if (problem_.found() || !problem_.CheckContainer(from, path, /*list=*/false)) return;
    const auto found = from.find(std::string(name));
    if (found == from.end()) return problem_.Absent(inside);
    if (!problem_.CheckContainer(*found, inside, /*list=*/false)) return;
    JsonReader inner(*found, inside, problem_, part, open_);
    VisitFields(value, inner);
    if (!open_) inner.RefuseUnknownKeys();
  }
  template <typename T>
  void Read(const nlohmann::json& from, const FieldPath& path, const Field& field,
            std::optional<T>& value) {
    T read{};
    Read(from, path, field, read);
    if (!problem_.found()) value = std::move(read);
  }
  // If the text is split into parts, a list has equally many entries in each part.
  template <typename T>
  void Read(const nlohmann::json& from, const FieldPath& path, const Field& field,
            std::vector<T>& values) {
    if (parts_ == kAllParts) values.clear();
    if constexpr (HasName<T>) {
      if (field.by_name) return ReadByName(from, path, field, values);
    }
    if (!problem_.CheckList(from, path, values.empty() ? from.size() : values.size())) return;
    values.resize(from.size());
    for (size_t i = 0; i < from.size() && !problem_.found(); ++i) {
      Read(from[i], FieldPath(path, i), field, values[i]);
    }
  }
  template <typename T>
  void ReadByName(const nlohmann::json& from, const FieldPath& path, const Field& field,
                  std::vector<T>& values) {
    if (!problem_.CheckContainer(from, path, /*list=*/false)) return;
    for (const auto& [key, entry] : from.items()) {
      T& value = values.emplace_back();
      Read(entry, FieldPath(path, key), field, value);
      value.name = key;
    }
  }
  template <typename T>
  void Read(const nlohmann::json& from, const FieldPath& path, const Field& field,
            std::map<std::string, T>& values) {
    values.clear();
    if (!problem_.CheckContainer(from, path, /*list=*/false)) return;
    for (const auto& [key, entry] : from.items()) {
      Read(entry, FieldPath(path, key), field, values[key]);
    }
  }
  template <typename T>
  void Read(const nlohmann::json& from, const FieldPath& path, const Field& field,
            OrderedMap<T>& values) {
    values.clear();
    if (!problem_.CheckContainer(from, path, /*list=*/false)) return;
    for (const auto& [key, entry] : from.items()) {
      Read(entry, FieldPath(path, key), field, values.emplace_back(key, T{}).second);
    }
  }

  template <typename T, typename Names>
  void ReadNamed(const std::string& text, const FieldPath& path, std::optional<T>& value,
                 const Names& names) {
    T read{};
    ReadNamed(text, path, read, names);
    if (!problem_.found()) value = std::move(read);
  }
  template <typename T, typename Names>
  void ReadNamed(const std::string& text, const FieldPath& path, T& value, const Names& names) {
    absl::StatusOr<T> read = ParseBy(names, path.ToText(), text);
    if (read.ok()) {
      value = *std::move(read);
    } else {
      problem_.Fail(read.status());
    }
  }

  const nlohmann::json& from_;
  const FieldPath& path_;
  JsonProblem& problem_;
  const TextParts parts_;
  const bool open_;
  size_t next_ = 0;                      // next entry of an array
  std::vector<std::string> asked_ = {};  // keys of an object that belong to fields
};

template <HasFields T>
nlohmann::json WriteJson(const T& value) {
  nlohmann::json object = nlohmann::json::object();
  JsonWriter<nlohmann::json> writer(object, kAllParts);
  VisitFields(value, writer);
  return object;
}

// Returns the JSON of `value` with its keys in the order of the fields.
template <HasFields T>
nlohmann::ordered_json WriteOrderedJson(const T& value) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  JsonWriter<nlohmann::ordered_json> writer(object, kAllParts);
  VisitFields(value, writer);
  return object;
}

// The treatment of keys that no field has. Such a key comes from a newer version, or is misspelt.
enum class UnknownKeys : uint8_t { kPassOver, kRefuse };

// Reads `json`. If the JSON value is no object, the error names it as `what`. `prefix`, such as
// "plan.", begins field paths. Returns InvalidArgument for the first problem; the contents of
// `value` are then unspecified.
template <HasFields T>
absl::Status ReadJson(std::string_view what, const nlohmann::json& json, UnknownKeys unknown,
                      T& value, std::string_view prefix = "") {
  JsonProblem problem;
  const FieldPath root(prefix);
  if (!problem.CheckContainer(json, FieldPath(what), /*list=*/false)) return problem.status();
  JsonReader reader(json, root, problem, kAllParts, unknown == UnknownKeys::kPassOver);
  VisitFields(value, reader);
  if (unknown == UnknownKeys::kRefuse) reader.RefuseUnknownKeys();
  return problem.status();
}

}  // namespace meshwright::planner
