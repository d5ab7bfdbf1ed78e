# Builds that are made whole, once, compile the sources of a target in groups: most of what a compiler does for one
# of our files is for headers that its neighbours read, too. `tools/nightly` and `.ci/run` ask for it;
# a build that is changed and made again is better off without.
#
# Sources of a group see each other's file-local names. Those that cannot be compiled together for it stand in
# apart.txt beside the build folder, one absolute path a line (tools/lib/unity_apart.py writes it), and are compiled by
# themselves, whatever the compiler. A source stays in its group, whatever others do.
set(MESHWRIGHT_UNITY OFF CACHE STRING "Whether sources are compiled in groups: OFF, ON, or how many make one")
set(meshwright_group_size ${MESHWRIGHT_UNITY})
if(MESHWRIGHT_UNITY STREQUAL ON)
  set(meshwright_group_size 8)
endif()
cmake_path(GET CMAKE_BINARY_DIR PARENT_PATH meshwright_apart_file)
cmake_path(APPEND meshwright_apart_file apart.txt)
if(MESHWRIGHT_UNITY AND NOT EXISTS ${meshwright_apart_file})
  file(TOUCH ${meshwright_apart_file})
endif()

# meshwright_unity(TARGET): groups the target's C++ sources.
function(meshwright_unity target)
  if(NOT MESHWRIGHT_UNITY)
    return()
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${meshwright_apart_file})
  file(STRINGS ${meshwright_apart_file} apart)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cc$")
  set(index 0)
  foreach(source IN LISTS sources)
    math(EXPR group "${index} / ${meshwright_group_size}")
    math(EXPR index "${index} + 1")
    get_filename_component(path ${source} ABSOLUTE)
    # A source of several targets has one property for all of them.
    get_source_file_property(grouped ${source} UNITY_GROUP)
    if(NOT path IN_LIST apart AND NOT grouped)
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
