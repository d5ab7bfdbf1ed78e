// PictureOrigin says what a picture shows, when it was drawn, and how it is drawn again. Every
// picture prints the first two in its last lines, and has all three in its metadata, so that a
// picture that was mailed or pasted can be traced to its question.
#pragma once

#include <string>

namespace meshwright::planner {

struct PictureOrigin {
  std::string question;  // model, cluster and batch, such as of QuestionText()
  std::string date;      // YYYY-MM-DD
  // The command line as it was typed, or the call of a server. Flags that have their defaults from
  // the environment or from a configuration file are not part of it.
  std::string command;
};

}  // namespace meshwright::planner
