"""Tests of maskwright; a package, so that the reference matcher and the oracle can be imported."""
