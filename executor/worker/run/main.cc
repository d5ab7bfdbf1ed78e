// The meshwright-worker binary.
#include "executor/worker/run/worker_main.h"

int main(int argc, char** argv) { return meshwright::worker::WorkerMain(argc, argv, /*hooks=*/{}); }
