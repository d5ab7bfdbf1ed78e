// How a struct that is stored or sent names its fields: once, for every codec.
//
// Such a struct has a function template `VisitFields(value, visit)` in its own namespace, which
// calls `visit` for each field in the order of its text form:
//
//   template <planner::ConstOr<Cat> C, typename Visitor>
//   void VisitFields(C& cat, Visitor& visit) {
//     visit(Needed("lives"), cat.lives);
//     visit("mass_kg", cat.mass_kg);
//     // An enum, an optional or a set of it by its names (base/text/enum_names.h).
//     visit("mood", cat.mood, kMoodNames);
//     // Anything that has a text (TextForm).
//     visit("diet", cat.diet, kDietText);
//     // Written for who reads only that, never read.
//     visit.Derived({"mass_g", "What it weighs, grams"}, cat.mass_kg * 1000);
//   }
//
// What a field is stands in one place, from which docs/schema is written: in the comment of the
// message's field where a message has it, else beside the name, as of `mass_g`.
//
// A field is a truth value, an int32_t, int64_t or uint64_t, a double, a std::string, a struct with
// fields, or an optional, a vector or a map from texts (std::map, or an OrderedMap where the order
// of the keys is part of the text) of one of these. Its name is the key in JSON
// (planner/codec/json_codec.h) and the field's name in a message (executor/wire/message_codec.h).
// Reading changes only the fields that the text or the message tells of.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/text/enum_names.h"

namespace meshwright::planner {

// T is Struct, or const Struct where its fields are written.
template <typename T, typename Struct>
concept ConstOr = std::same_as<std::remove_const_t<T>, Struct>;

// A map from texts whose text has the keys in this order; none is there twice.
template <typename T>
using OrderedMap = std::vector<std::pair<std::string, T>>;

// One part of a text in parts: the key of its object, and what the object is.
struct TextPart {
  std::string_view name;
  std::string_view sentence;
};
// Which parts of a text hold a field: a bit each, the lowest first.
using TextParts = uint8_t;
inline constexpr TextParts kAllParts = 0xff;

// A field's name and what it is, and what its JSON form has that its value does not tell. Messages
// ignore all but the names, `only_text` and `only_wire`.
struct Field {
  // NOLINTNEXTLINE(google-explicit-constructor): most fields are a name and nothing else
  constexpr Field(const char* field_name) : name(field_name) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr Field(std::string_view field_name) : name(field_name) {}
  constexpr Field(std::string_view field_name, std::string_view what)
      : name(field_name), sentence(what) {}

  std::string_view name;           // lives as long as the call of the visitor
  std::string_view sentence = {};  // what it is, with its unit, where no message says so
  // The field's name in a message where protobuf refuses the key: to it "steps" is "step_s".
  std::string_view message_name = {};
  bool needed = false;     // reading fails where it is absent
  bool present = true;     // whether there is something to write
  bool optional = false;   // there may be nothing to write
  bool or_null = false;    // written as null where there is nothing to write, rather than left out
  bool as_list = false;    // of a struct: its fields in order, without their names
  bool inside = false;     // of a struct: its fields are keys of the object around it
  bool open = false;       // of a struct: keys that it does not know are passed over
  bool by_name = false;    // of a vector of structs with a `name`: an object whose keys are those
  bool closed = false;     // of a struct: no version has other keys
  bool only_text = false;  // messages do not have it
  bool only_wire = false;  // only messages have it
  TextParts parts = kAllParts;
  // Of a struct whose text is in parts: an object each that holds the part's fields.
  std::span<const TextPart> text_parts = {};
  std::span<const std::string_view> among = {};    // of a text: all that it may be
  std::optional<int64_t> at_least = std::nullopt;  // of a number
};

// Reading fails where the field is absent.
constexpr Field Needed(Field field) {
  field.needed = true;
  return field;
}

// The field has another name in its message.
constexpr Field InMessage(std::string_view message_name, Field field) {
  field.message_name = message_name;
  return field;
}

// Written only where `present`.
constexpr Field OnlyIf(bool present, Field field) {
  field.present = present;
  field.optional = true;
  return field;
}

// null where it is an optional without a value.
constexpr Field OrNull(Field field) {
  field.or_null = true;
  return field;
}

// null where not `present`.
constexpr Field NullUnless(bool present, Field field) { return OrNull(OnlyIf(present, field)); }

// The struct, or each one of the vector, as the list of its fields: all of them are needed.
constexpr Field AsList(Field field) {
  field.as_list = true;
  return field;
}

// The struct's fields are keys of the object around it. An optional one is there where its first
// field is.
constexpr Field Inside(Field field) {
  field.inside = true;
  return field;
}

// Keys that the struct does not know are passed over, also where a reader refuses them elsewhere.
constexpr Field Open(Field field) {
  field.open = true;
  return field;
}

// No version has keys beside those of the struct.
constexpr Field Closed(Field field) {
  field.closed = true;
  return field;
}

// The struct's text is in these parts.
constexpr Field WithParts(std::span<const TextPart> text_parts, Field field) {
  field.text_parts = text_parts;
  return field;
}

// The vector is an object: the member `name` of each of its structs, which their fields leave out,
// is its key.
constexpr Field ByName(Field field) {
  field.by_name = true;
  return field;
}

// Messages leave it out: they say it in another way, or who prints the text knows it by itself.
constexpr Field OnlyInText(Field field) {
  field.only_text = true;
  return field;
}

// Texts leave it out: they say it in another way, or have it elsewhere.
constexpr Field OnlyOnWire(Field field) {
  field.only_wire = true;
  return field;
}

// A text that is one of `names`, which live as long as the call of the visitor.
constexpr Field Among(std::span<const std::string_view> names, Field field) {
  field.among = names;
  return field;
}

// A whole number from `least` on.
constexpr Field AtLeast(int64_t least, Field field) {
  field.at_least = least;
  return field;
}

// Only in these parts of a text in parts.
constexpr Field InParts(TextParts parts, Field field) {
  field.parts = parts;
  return field;
}

// The value of a field that only messages have, of a struct that is not made of its message.
struct NoValue {};

// A value that is written as the text `to_text(value)` and read by `parse(text)`, which gives an
// absl::StatusOr of it.
template <typename ToText, typename Parse>
struct TextForm {
  ToText to_text;
  Parse parse;
};
template <typename ToText, typename Parse>
TextForm(ToText, Parse) -> TextForm<ToText, Parse>;

// The text of `value` by its names or its form, and back; `path` is what an error calls the field.
template <typename T, size_t kCount>
std::string TextBy(const EnumNames<T, kCount>& names, const T& value) {
  return std::string(meshwright::NameOf(names, value));
}
template <typename ToText, typename Parse, typename T>
std::string TextBy(const TextForm<ToText, Parse>& form, const T& value) {
  return std::string(form.to_text(value));
}
template <typename T, size_t kCount>
absl::StatusOr<T> ParseBy(const EnumNames<T, kCount>& names, std::string_view path,
                          std::string_view text) {
  return KindOf(names, path, text);
}
template <typename ToText, typename Parse>
auto ParseBy(const TextForm<ToText, Parse>& form, std::string_view, std::string_view text) {
  return form.parse(text);
}

// A visitor that looks at nothing.
struct NoVisitor {
  template <typename... Arguments>
  void operator()(const Field&, Arguments&&...) const {}
  template <typename Value>
  void Derived(const Field&, const Value&) const {}
};

template <typename T>
concept HasFields = requires(T& value, NoVisitor& visit) {
  VisitFields(value, visit);
};

}  // namespace meshwright::planner
