"""Speed and correctness on real schemas, next to other engines of the same kind."""
