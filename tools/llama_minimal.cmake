# Leaves out of the llama-cpp-python build what the demo never loads.
#
# Passed as CMAKE_PROJECT_INCLUDE, so CMake reads it after every project() call. The package turns
# llama.cpp's helper library ("common") on by a forced cache entry; a plain variable of the same
# name wins over a cache entry, and nothing that Python loads links against that library.
set(LLAMA_BUILD_COMMON OFF)
