// What the comments of proto/meshwright/v1 say of messages and their fields.
#pragma once

#include <string>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor_database.h"

namespace meshwright::cli {

// Reads what the build kept of the files' sources: the descriptors of generated code have no
// comments.
class ProtoComments {
 public:
  ProtoComments();

  // The comment before it in one line, without the full stop at its end; empty where it has none.
  std::string Of(const google::protobuf::Descriptor& message) const;
  std::string Of(const google::protobuf::FieldDescriptor& field) const;

 private:
  google::protobuf::SimpleDescriptorDatabase files_;
  google::protobuf::DescriptorPool pool_;
};

}  // namespace meshwright::cli
