# The entries of CTest: test binaries and scripts, each with a label, a limit of time and what it takes.
#
# Labels: fast; slow; slow_cases, the long tests of a fast binary, which `-L slow` selects too; gpu, which needs a
# device; and nightly, which repeats all that a slow one takes a part of.
# tests/times.tsv has a line for every entry (tools/test_times writes it). Those that take longest start first.

# How many times as long a program of ours may take as without sanitizers.
set(MESHWRIGHT_SLOWDOWN 1)
if(MESHWRIGHT_SANITIZE STREQUAL thread)
  set(MESHWRIGHT_SLOWDOWN 30)
elseif(MESHWRIGHT_SANITIZE)
  set(MESHWRIGHT_SLOWDOWN 10)
endif()

# MESHWRIGHT_SECONDS_OF_<entry>, of those that were measured.
set(times ${PROJECT_SOURCE_DIR}/tests/times.tsv)
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${times})
file(STRINGS ${times} lines)
foreach(line IN LISTS lines)
  if(line MATCHES "^([^\t]+)\t[^\t]+\t([0-9.]+)$")
    set(MESHWRIGHT_SECONDS_OF_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
  endif()
endforeach()

# meshwright_entry(NAME LABEL label TIMEOUT_S limit COMMAND ... ENVIRONMENT ... PROPERTIES ...): one entry, which exit
# code 77 says was skipped.
function(meshwright_entry name)
  cmake_parse_arguments(ARG "" "LABEL;TIMEOUT_S" "COMMAND;ENVIRONMENT;PROPERTIES" ${ARGN})
  math(EXPR timeout_s "${MESHWRIGHT_SLOWDOWN} * ${ARG_TIMEOUT_S}")
  add_test(NAME ${name} COMMAND ${ARG_COMMAND} COMMAND_EXPAND_LISTS)
  set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${timeout_s} SKIP_RETURN_CODE 77
    ENVIRONMENT "${ARG_ENVIRONMENT}" ${ARG_PROPERTIES})
  if(DEFINED MESHWRIGHT_SECONDS_OF_${name})
    set_tests_properties(${name} PROPERTIES COST ${MESHWRIGHT_SECONDS_OF_${name}})
  endif()
endfunction()

# meshwright_shares(NAME SHARES n ...): the entry NAME, or NAME_1 and so on, each of which runs a share of a GoogleTest
# binary's tests. The rest is that of meshwright_entry().
function(meshwright_shares name)
  cmake_parse_arguments(ARG "" "LABEL;TIMEOUT_S;SHARES" "COMMAND;ENVIRONMENT;PROPERTIES" ${ARGN})
  foreach(share RANGE 1 ${ARG_SHARES})
    set(entry ${name})
    if(ARG_SHARES GREATER 1)
      set(entry ${name}_${share})
      math(EXPR index "${share} - 1")
      set(shard GTEST_TOTAL_SHARDS=${ARG_SHARES} GTEST_SHARD_INDEX=${index})
    endif()
    meshwright_entry(${entry} LABEL ${ARG_LABEL} TIMEOUT_S ${ARG_TIMEOUT_S} COMMAND ${ARG_COMMAND}
      ENVIRONMENT ${ARG_ENVIRONMENT} ${shard} PROPERTIES ${ARG_PROPERTIES})
  endforeach()
endfunction()

# meshwright_entries(NAME SHARES n NIGHTLY n ...): the entries of meshwright_shares(), and where NIGHTLY is not 0 as
# many of the label nightly. Tests know by MESHWRIGHT_NIGHTLY (tests/nightly.h) which they are.
function(meshwright_entries name)
  cmake_parse_arguments(ARG "" "LABEL;TIMEOUT_S;SHARES;NIGHTLY" "COMMAND;ENVIRONMENT;PROPERTIES" ${ARGN})
  set(both TIMEOUT_S ${ARG_TIMEOUT_S} COMMAND ${ARG_COMMAND} PROPERTIES ${ARG_PROPERTIES})
  meshwright_shares(${name} LABEL ${ARG_LABEL} SHARES ${ARG_SHARES} ENVIRONMENT ${ARG_ENVIRONMENT} ${both})
  if(ARG_NIGHTLY)
    meshwright_shares(${name}_nightly LABEL nightly SHARES ${ARG_NIGHTLY}
      ENVIRONMENT ${ARG_ENVIRONMENT} MESHWRIGHT_NIGHTLY=1 ${both})
  endif()
endfunction()

# meshwright_test_list(FILE PROPERTY): a list for tools/gpu, beside the tests' binaries, one name a line.
function(meshwright_test_list file property)
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/tests/${file}
    CONTENT "$<JOIN:$<TARGET_PROPERTY:meshwright_options,${property}>,\n>\n")
endfunction()
meshwright_test_list(gpu_tests.txt MESHWRIGHT_GPU_TESTS)
meshwright_test_list(cpu_rehearsal_tests.txt MESHWRIGHT_CPU_REHEARSAL_TESTS)

# meshwright_test(NAME LABEL fast|slow|gpu SOURCES ... DEPS ...): a GoogleTest binary.
# SLOW_CASES: patterns of those of a fast binary's tests that take long. An entry <NAME>_slow of the label slow_cases
# runs them, and <NAME> runs the others. NIGHTLY_CASES: likewise of a slow binary, as an entry <NAME>_nightly.
# TIMEOUT_S is the time after which CTest ends an entry (default 120). SHARES: how many entries share its tests
# (default 1). NIGHTLY: how many share them among the nightly ones (default: it isn't there). GPU_REHEARSAL: one of
# those that `tools/gpu --devices cpu` runs in place of the gpu tests.
# The target fast_tests builds all of the fast ones.
add_custom_target(fast_tests)
function(meshwright_test name)
  cmake_parse_arguments(ARG "GPU_REHEARSAL" "LABEL;TIMEOUT_S;SHARES;NIGHTLY" "SOURCES;DEPS;ENVIRONMENT;SLOW_CASES;NIGHTLY_CASES" ${ARGN})
  find_package(GTest REQUIRED)
  add_executable(${name} ${ARG_SOURCES})
  meshwright_configure(${name})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  if(ARG_LABEL STREQUAL fast)
    add_dependencies(fast_tests ${name})
  elseif(ARG_LABEL STREQUAL gpu)
    set_property(TARGET meshwright_options APPEND PROPERTY MESHWRIGHT_GPU_TESTS ${name})
  endif()
  if(ARG_GPU_REHEARSAL)
    set_property(TARGET meshwright_options APPEND PROPERTY MESHWRIGHT_CPU_REHEARSAL_TESTS ${name})
  endif()
  foreach(default TIMEOUT_S=120 SHARES=1 NIGHTLY=0)
    string(REGEX MATCH "^(.*)=(.*)$" matched ${default})
    if(NOT ARG_${CMAKE_MATCH_1})
      set(ARG_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
    endif()
  endforeach()
  set(environment MESHWRIGHT_SOURCE_DIR=${PROJECT_SOURCE_DIR} MESHWRIGHT_BIN_DIR=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
    ${ARG_ENVIRONMENT})
  set(skipped SKIP_REGULAR_EXPRESSION "SKIPPED . .*whole file")
  foreach(kind slow=slow_cases nightly=nightly)
    string(REGEX MATCH "^(.*)=(.*)$" matched ${kind})
    set(suffix ${CMAKE_MATCH_1})
    set(label ${CMAKE_MATCH_2})
    string(TOUPPER ${suffix} prefix)
    if(ARG_${prefix}_CASES)
      list(JOIN ARG_${prefix}_CASES ":" patterns)
      set(others GTEST_FILTER=-${patterns})
      meshwright_entry(${name}_${suffix} LABEL ${label} TIMEOUT_S ${ARG_TIMEOUT_S} COMMAND ${name}
        ENVIRONMENT ${environment} GTEST_FILTER=${patterns} PROPERTIES ${skipped}
        FAIL_REGULAR_EXPRESSION "Running 0 tests")
    endif()
  endforeach()
  meshwright_entries(${name} LABEL ${ARG_LABEL} SHARES ${ARG_SHARES} NIGHTLY ${ARG_NIGHTLY} TIMEOUT_S ${ARG_TIMEOUT_S}
    COMMAND ${name} ENVIRONMENT ${environment} ${others} PROPERTIES ${skipped})
  if(ARG_LABEL STREQUAL gpu OR ARG_GPU_REHEARSAL)
    meshwright_package(tests ${name})
  endif()
endfunction()

# meshwright_script_test(NAME LABEL fast|slow TIMEOUT_S limit COMMAND ...): a program that is there already, in its own
# words or as `python3 -B`. NIGHTLY: it is one of the nightly ones too.
function(meshwright_script_test name)
  cmake_parse_arguments(ARG "NIGHTLY" "" "" ${ARGN})
  set(nightly 0)
  if(ARG_NIGHTLY)
    set(nightly 1)
  endif()
  meshwright_entries(${name} SHARES 1 NIGHTLY ${nightly} ${ARG_UNPARSED_ARGUMENTS})
endfunction()
