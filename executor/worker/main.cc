// The meshwright-worker binary.
#include "executor/worker/worker_main.h"

int main(int argc, char** argv) { return meshwright::WorkerMain(argc, argv, /*hooks=*/{}); }
