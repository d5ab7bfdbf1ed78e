// A program that is a guard and nothing else, for tests of it.
#include "executor/guard/guard.h"

int main(int argc, char** argv) { return meshwright::guard::GuardMain(argc, argv); }
