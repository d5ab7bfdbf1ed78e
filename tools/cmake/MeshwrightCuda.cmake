# Included by MeshwrightTorch. Enables CUDA where tools/setup says where it is, and then sets MESHWRIGHT_HAVE_CUDA and defines
# Torch::cuda (Torch::cpu, LibTorch's CUDA part, the CUDA runtime, NCCL) and meshwright_cuda_module().
#
# Link Torch::cuda into modules that are loaded at run time, never into a program: loading it costs a third of
# a second and 300 MB, also where no device is.

set(MESHWRIGHT_HAVE_CUDA OFF)
if(NOT MESHWRIGHT_SETUP STREQUAL cuda)
  if(MESHWRIGHT_CUDA)
    message(STATUS "CUDA part: not built; tools/setup installs what it needs")
  else()
    message(STATUS "CUDA part: not built, for MESHWRIGHT_CUDA is off")
  endif()
  return()
endif()

set(CMAKE_CUDA_COMPILER ${MESHWRIGHT_CUDA_ROOT}/bin/nvcc)
set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
# A100, H100/H200 and B200; the last one as PTX too, for what comes after.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 100)
endif()
# Torch shares the runtime library; a static copy beside it would be a second one with its own state.
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
enable_language(CUDA)
set(MESHWRIGHT_HAVE_CUDA ON)

# CMake 3.25.1 knows no C++20 option for nvcc and would pass none.
set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

function(meshwright_cuda_library target name)
  find_library(${target}_FILE NAMES ${name} PATHS ${MESHWRIGHT_CUDA_LIBRARY_DIRS} /usr/lib/x86_64-linux-gnu
    NO_DEFAULT_PATH NO_CACHE REQUIRED)
  meshwright_shared_library(Torch::${target} ${${target}_FILE})
  set_target_properties(Torch::${target} PROPERTIES IMPORTED_SONAME ${name})
endfunction()

meshwright_cuda_library(cudart libcudart.so.13)
meshwright_cuda_library(nccl libnccl.so.2)
meshwright_shared_library(Torch::c10_cuda ${MESHWRIGHT_TORCH_DIR}/lib/libc10_cuda.so)
meshwright_shared_library(Torch::torch_cuda ${MESHWRIGHT_TORCH_DIR}/lib/libtorch_cuda.so)

add_library(Torch::cuda INTERFACE IMPORTED GLOBAL)
target_link_libraries(Torch::cuda INTERFACE
  Torch::cpu Torch::torch_cuda Torch::c10_cuda Torch::nccl Torch::cudart)
target_include_directories(Torch::cuda INTERFACE ${MESHWRIGHT_CUDA_INCLUDE_DIRS})
target_compile_definitions(Torch::cuda INTERFACE USE_C10D_NCCL)
target_compile_options(Torch::cuda INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr>)

# meshwright_cuda_module(NAME SOURCES ... DEPS ...): a shared library with kernels (.cu) and C++ files, for
# the worker to dlopen; it lands beside the binaries. nvcc takes no g++ warnings itself, so meshwright_options
# go to the C++ files only.
function(meshwright_cuda_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} MODULE ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(${name} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:$<TARGET_PROPERTY:meshwright_options,INTERFACE_COMPILE_OPTIONS>>
    $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings -Xcompiler=-Wall,-Wextra,-Wshadow,-Werror>)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} Torch::cuda)
endfunction()
