# Torch::cpu (LibTorch on the CPU, with Gloo) and, where nvcc is, Torch::cuda; tools/setup installs both. Nothing of
# CUDA's may change how a source that links Torch::cpu alone is compiled: builds with and without the CUDA part share
# those.
#
# Not find_package(Torch): that one links libtorch, which loads the CUDA libraries into every process, and
# demands a CUDA toolkit even for a program that never calls it.

option(MESHWRIGHT_CUDA "Build the CUDA part where what it needs is installed" ON)
set(setup_options)
if(NOT MESHWRIGHT_CUDA)
  set(setup_options --cpu)
endif()

# The set-up script alone knows where things lie; asking it keeps that knowledge in one place.
execute_process(COMMAND ${PROJECT_SOURCE_DIR}/tools/setup ${setup_options} --print-env
  OUTPUT_VARIABLE setup_env ERROR_VARIABLE setup_error RESULT_VARIABLE setup_result)
if(NOT setup_result EQUAL 0)
  string(STRIP "${setup_error}" setup_error)
  message(FATAL_ERROR "LibTorch was not found: run tools/setup first.\n${setup_error}")
endif()
# tools/lib/build.sh compares this file with a new answer and configures again when they differ.
file(WRITE ${CMAKE_BINARY_DIR}/setup.env "${setup_env}")
string(REGEX MATCHALL "[A-Z_]+=[^\n]*" setup_lines "${setup_env}")
foreach(line IN LISTS setup_lines)
  string(REGEX MATCH "^([A-Z_]+)=(.*)$" matched "${line}")
  string(REPLACE ":" ";" ${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
endforeach()

# An RPATH (not a RUNPATH): it also serves what the libraries themselves load.
set(rpath_options LINKER:--disable-new-dtags LINKER:-rpath,${MESHWRIGHT_TORCH_DIR}/lib)
foreach(dir IN LISTS MESHWRIGHT_CUDA_LIBRARY_DIRS)
  list(APPEND rpath_options LINKER:-rpath,${dir})
endforeach()

# meshwright_shared_library(TARGET FILE): an imported library that CMake links by its full path.
function(meshwright_shared_library target file)
  add_library(${target} SHARED IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${file})
  get_filename_component(soname ${file} NAME)
  set_target_properties(${target} PROPERTIES IMPORTED_SONAME ${soname})
endfunction()

meshwright_shared_library(Torch::c10 ${MESHWRIGHT_TORCH_DIR}/lib/libc10.so)
meshwright_shared_library(Torch::torch_cpu ${MESHWRIGHT_TORCH_DIR}/lib/libtorch_cpu.so)

find_package(Threads REQUIRED)
add_library(Torch::cpu INTERFACE IMPORTED GLOBAL)
target_link_libraries(Torch::cpu INTERFACE Torch::torch_cpu Torch::c10 Threads::Threads)
# Imported targets' include folders are SYSTEM ones: Torch's headers don't pass our warnings.
target_include_directories(Torch::cpu INTERFACE
  ${MESHWRIGHT_TORCH_DIR}/include ${MESHWRIGHT_TORCH_DIR}/include/torch/csrc/api/include)
# The wheel has Gloo's code but not its headers, which come from Debian's libgloo-dev.
target_compile_definitions(Torch::cpu INTERFACE USE_DISTRIBUTED USE_C10D_GLOO)
target_link_options(Torch::cpu INTERFACE ${rpath_options})

include(MeshwrightCuda)
