# How every target of the project is built: C++20, warnings as errors, ccache, sanitizers, one output folder
# for binaries, and helpers for libraries and embedded data files.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

# Sources of a target are compiled in groups, whose headers are read once: they are most of what a compiler does for one
# of our files. Sources of a group see each other's file-local names, which are unique in their target for it. The preset
# `sources` compiles one by one, for tools that want each source's own command.
option(MESHWRIGHT_GROUPS "Compile sources in groups" ON)
set(CMAKE_UNITY_BUILD ${MESHWRIGHT_GROUPS})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)

set(MESHWRIGHT_SANITIZE "" CACHE STRING "Sanitizers to build with, for example address,undefined")
option(MESHWRIGHT_FUZZ "Build what libFuzzer runs, with Clang" OFF)

find_program(CCACHE ccache)
if(CCACHE)
  # Paths below the checkout are hashed relative to it, so that several checkouts share what was compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
endif()

# Compile options of the project's own code; third-party headers come in as SYSTEM and stay quiet.
# In a group a source's names stand before those of its neighbours, which are not what -Wshadow is about.
set(shadow_option -Wshadow)
if(MESHWRIGHT_GROUPS AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  set(shadow_option -Wshadow=local)
elseif(MESHWRIGHT_GROUPS)
  set(shadow_option -Wno-shadow)
endif()
add_library(meshwright_options INTERFACE)
target_compile_options(meshwright_options INTERFACE
  -Wall -Wextra -Wpedantic -Werror ${shadow_option} -Wnon-virtual-dtor -Wconversion -Wno-sign-conversion)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  # Checks what ABSL_GUARDED_BY and the like say of mutexes.
  target_compile_options(meshwright_options INTERFACE -Wthread-safety)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # GCC 12 sees overlaps in std::string's own code (GCC bug 105329).
  target_compile_options(meshwright_options INTERFACE -Wno-restrict)
endif()
target_include_directories(meshwright_options INTERFACE ${PROJECT_SOURCE_DIR})
if(MESHWRIGHT_SANITIZE)
  target_compile_options(meshwright_options INTERFACE
    -fsanitize=${MESHWRIGHT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(meshwright_options INTERFACE -fsanitize=${MESHWRIGHT_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # GCC sees these where there are none once sanitizers' checks are optimised (its manual says so).
    target_compile_options(meshwright_options INTERFACE
      -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds -Wno-nonnull)
  endif()
endif()
if(MESHWRIGHT_SANITIZE MATCHES address)
  # Eigen aligns by hand under it, and the system's Ceres, which shares functions with us, does not.
  target_compile_definitions(meshwright_options INTERFACE EIGEN_MALLOC_ALREADY_ALIGNED=1)
endif()
if(MESHWRIGHT_SANITIZE STREQUAL thread)
  # Protocol Buffers' maps have another layout under it than the system's library was built with.
  target_compile_options(meshwright_options INTERFACE -U__SANITIZE_THREAD__)
  add_library(tsan_absl_mutex OBJECT ${PROJECT_SOURCE_DIR}/tools/sanitizers/absl_mutex.cc)
  # Of Abseil it uses what stands beside the mutex, which not every target links.
  target_link_libraries(tsan_absl_mutex PRIVATE meshwright_options PUBLIC absl::synchronization absl::time)
endif()

# meshwright_configure(TARGET): the options above on a target of our own.
function(meshwright_configure target)
  target_link_libraries(${target} PRIVATE meshwright_options)
  get_target_property(type ${target} TYPE)
  if(TARGET tsan_absl_mutex AND type STREQUAL EXECUTABLE)
    target_link_libraries(${target} PRIVATE tsan_absl_mutex)
  endif()
endfunction()

# meshwright_library(NAME SOURCES ... DEPS ...): a static library of the project.
function(meshwright_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  meshwright_configure(${name})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${ARG_DEPS})
endfunction()

# meshwright_package(FOLDER TARGET): says that the archive of tools/package holds the target, in that folder. The
# target package_FOLDER builds all of a folder.
function(meshwright_package folder target)
  if(NOT TARGET package_${folder})
    add_custom_target(package_${folder})
  endif()
  add_dependencies(package_${folder} ${target})
  set_property(GLOBAL APPEND_STRING PROPERTY MESHWRIGHT_PACKAGE "${folder} $<TARGET_FILE:${target}>\n")
endfunction()

# To be called once, after all targets: writes package.txt in the build folder, lines of folder and file.
function(meshwright_write_package_list)
  get_property(files GLOBAL PROPERTY MESHWRIGHT_PACKAGE)
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/package.txt CONTENT "${files}")
endfunction()

# meshwright_embed(TARGET NAMESPACE FUNCTION [ROOT folder] FILES...): compiles text files into TARGET. The function
# `absl::Span<const EmbeddedFile> NAMESPACE::FUNCTION()` (planner/data/embedded.h) lists them by stem, or by their path
# below ROOT.
function(meshwright_embed target namespace function)
  cmake_parse_arguments(ARG "" "ROOT" "" ${ARGN})
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${function}.cc)
  string(REPLACE ";" "," files "${ARG_UNPARSED_ARGUMENTS}")
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DNAMESPACE=${namespace} -DFUNCTION=${function} "-DROOT=${ARG_ROOT}"
            "-DFILES=${files}" -P ${PROJECT_SOURCE_DIR}/tools/cmake/Embed.cmake
    DEPENDS ${ARG_UNPARSED_ARGUMENTS} ${PROJECT_SOURCE_DIR}/tools/cmake/Embed.cmake VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
