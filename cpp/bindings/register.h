// One function per part of the module; module.cpp calls them all.
#pragma once

#include <nanobind/nanobind.h>

void register_errors(nanobind::module_& m);
void register_vocabulary(nanobind::module_& m);
void register_compiled(nanobind::module_& m);
void register_stored(nanobind::module_& m);
void register_mask_table(nanobind::module_& m);
void register_matcher(nanobind::module_& m);
void register_batch(nanobind::module_& m);
void register_apply(nanobind::module_& m);
void register_ir_builder(nanobind::module_& m);
