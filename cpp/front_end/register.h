// One function per part of the module that the front-end adds; bindings/module.cpp calls them.
#pragma once

#include <nanobind/nanobind.h>

void register_schema_walk(nanobind::module_& m);
void register_json_text(nanobind::module_& m);
