"""Inputs that must stay cheap and right, as a benchmark: `python -m benchmarks.hard`.

One module per family. Inputs are generated, never stored; each has texts that must be accepted and
texts that must be refused. `scenarios` and `vocabularies` hold what is no grammar: rollback, forks,
threads, caches, odd vocabularies.
"""
