// The program `meshwright`, whose code is in libmeshwright.so.
#include "tools/library/meshwright.h"

int main(int argc, char** argv) { return mw_main(argc, argv); }
