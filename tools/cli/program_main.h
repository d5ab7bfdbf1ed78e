// ProgramMain() is the program `meshwright`.
#pragma once

namespace meshwright::cli {

// Runs the command line on the process's own streams, environment and signals, and returns the exit
// code. REQUIRES: called once, before anything else starts a thread.
int ProgramMain(int argc, char** argv);

}  // namespace meshwright::cli
