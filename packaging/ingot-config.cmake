# find_package(ingot) gives the target ingot::ingot.
get_filename_component(_ingot_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET ingot::ingot)
  add_library(ingot::ingot SHARED IMPORTED)
  set_target_properties(ingot::ingot PROPERTIES
    IMPORTED_LOCATION "${_ingot_prefix}/lib/libingot.so.0"
    IMPORTED_SONAME "libingot.so.0"
    INTERFACE_INCLUDE_DIRECTORIES "${_ingot_prefix}/include/ingot")
endif()
unset(_ingot_prefix)
